"""What is done in the workspace beside filling in: copies, undo."""

from __future__ import annotations

import pytest
from django.utils import timezone
from playwright.sync_api import expect

from labeling.models import Annotation, Assignment, Round
from labeling.work import annotations
from tests.browser.workspace import Workspace
from tests.factories import requirement, save_of

pytestmark = pytest.mark.django_db(transaction=True)


def start_from(workspace: Workspace, *requirements: dict[str, object]) -> Workspace:
    annotations.save_draft(workspace.assignment, save_of({"requirements": list(requirements)}))
    return workspace.open()


def save(workspace: Workspace) -> Workspace:
    workspace.press("Control+s")
    expect(workspace.state).to_have_attribute("data-state", "saved")
    return workspace


def test_a_label_is_duplicated_with_a_number_of_its_own(workspace: Workspace) -> None:
    start_from(workspace, requirement(1), requirement(2)).press("d")

    save(workspace)

    first, copy, second = workspace.requirements
    assert [first["id"], copy["id"], second["id"]] == ["REQ-001", "REQ-003", "REQ-002"]
    assert copy["uid"] != first["uid"]
    assert copy["title"] == first["title"]


# --- undo of a submission -----------------------------------------------------------------------


def submit(workspace: Workspace, queue: list[Assignment]) -> None:
    workspace.open().press("0", "Control+Enter")
    workspace.page.wait_for_url(f"**{queue[1].get_absolute_url()}")
    expect(workspace.notices).to_contain_text("c-001 submitted.")


def test_a_submission_is_undone_by_key_on_the_page_that_follows_or_reopened_on_its_own(
    workspace: Workspace, queue: list[Assignment]
) -> None:
    submit(workspace, queue)

    workspace.press("Control+z")

    workspace.page.wait_for_url(f"**{queue[0].get_absolute_url()}")
    expect(workspace.page.locator("#empty")).to_be_checked()
    stored = Annotation.objects.get(assignment=queue[0])
    assert (stored.status, stored.empty) == ("draft", True)
    workspace.press("Control+Enter")
    workspace.page.wait_for_url(f"**{queue[1].get_absolute_url()}")
    workspace.open()
    workspace.page.get_by_role("button", name="Reopen").click()
    expect(workspace.page.locator("#empty")).to_be_enabled()
    assert Annotation.objects.get(assignment=queue[0]).status == "draft"


def test_a_locked_submission_says_why_it_stays(
    workspace: Workspace, queue: list[Assignment], allowed_console_errors: list[str]
) -> None:
    allowed_console_errors.append("409")
    submit(workspace, queue)
    Round.objects.filter(pk=queue[0].round_id).update(state="closed", closed_at=timezone.now())

    workspace.press("Control+z")

    expect(workspace.notices).to_contain_text("can no longer be reopened")


# --- undo of a skip -----------------------------------------------------------------------------


def skip(workspace: Workspace) -> None:
    workspace.open().start_label("Cut off").press("s")
    workspace.type("By mistake").press("Control+Enter")


def test_a_skip_is_undone_by_key_on_the_page_that_follows(
    workspace: Workspace, queue: list[Assignment]
) -> None:
    skip(workspace)
    workspace.page.wait_for_url(f"**{queue[1].get_absolute_url()}")
    expect(workspace.notices).to_contain_text("c-001 skipped.")

    workspace.press("Control+z")

    workspace.page.wait_for_url(f"**{queue[0].get_absolute_url()}")
    expect(workspace.labels).to_contain_text(["Cut off"])
    stored = Annotation.objects.get(assignment=queue[0])
    assert (stored.status, stored.skip_reason) == ("draft", "")
