"""What becomes of one's text when an outage lasts, and when it can no longer be submitted or saved.

What a killed browser or server leaves is in test_workspace_crash.py.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.utils import timezone
from playwright.sync_api import Page, Route, expect
from pytest_django.live_server_helper import LiveServer

from labeling.models import Annotation, Assignment
from labeling.work import annotations, assignments, rounds
from tests.browser.workspace import Workspace, wait_until
from tests.factories import (
    answer,
    labels,
    make_project,
    open_full,
    requirement,
    save_of,
)

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def open_workspace(
    page: Page,
    live_server: LiveServer,
    sign_in: Callable[[User], None],
    people: dict[str, User],
    allowed_console_errors: list[str],
) -> Callable[[Assignment], Workspace]:
    """Ana's page of an assignment, in which a refusal by the server is no error of the page."""
    allowed_console_errors.append("409")
    sign_in(people["ana"])
    return lambda assignment: Workspace(page, live_server, assignment).open()


def complete_label(assignment: Assignment, title: str) -> None:
    payload = {"requirements": [requirement(1, title=title)]}
    annotations.save_draft(assignment, save_of(payload))


def test_an_outage_of_two_minutes_ends_in_one_save(
    workspace: Workspace, allowed_console_errors: list[str]
) -> None:
    allowed_console_errors.append("net::ERR_")
    page = workspace.page
    page.clock.install()
    workspace.open()
    page.route("**/api/**", lambda route: route.abort())
    for minute in ("First", "Second"):
        workspace.start_label(f"{minute} minute")
        page.clock.run_for(60_000)
        expect(workspace.state).to_have_text("Not saved – retrying")

    page.unroute("**/api/**")
    page.clock.run_for(16_000)  # the longest wait between two tries is 15 s
    page.clock.resume()  # a try that was under way may have failed after that, and waits again

    expect(workspace.state).to_contain_text("rev 1")
    assert workspace.titles == ["First minute", "Second minute"]


def test_who_types_without_a_pause_is_saved_all_the_same(workspace: Workspace) -> None:
    page = workspace.page
    page.clock.install()
    workspace.open().press("n")

    for letter in "Without a pause":  # 15 letters in 4.5 seconds
        workspace.type(letter)
        page.clock.run_for(300)

    expect(workspace.state).to_contain_text("rev")
    assert workspace.titles[0].startswith("Without")


@pytest.mark.postgres
def test_a_place_that_was_taken_is_said_and_the_draft_is_saved(
    open_workspace: Callable[[Assignment], Workspace], people: dict[str, User]
) -> None:
    open_full(make_project(), 1, pool=True, overlap=1)
    mine = assignments.take(people["ana"])
    assert mine is not None
    complete_label(mine, "Mine")
    workspace = open_workspace(mine)
    Assignment.objects.filter(pk=mine.pk).update(
        lease_expires_at=timezone.now() - timedelta(minutes=1)
    )
    theirs = assignments.take(people["ben"])
    assert theirs is not None
    answer(theirs)

    workspace.press("e", "End").type(" and more").press("Control+Enter")

    expect(workspace.notices).to_contain_text("others have finished this conversation")
    expect(workspace.state).to_have_attribute("data-state", "saved")
    assert workspace.titles == ["Mine and more"]
    assert Annotation.objects.get(assignment=mine).status == "draft"
    workspace.page.get_by_role("button", name="Next conversation").click()
    expect(workspace.page).not_to_have_url(workspace.url)


def submitted_elsewhere(
    open_workspace: Callable[[Assignment], Workspace], ana: User
) -> tuple[Workspace, Assignment]:
    """A page with text that the submission of another page does not have."""
    mine = open_full(make_project(), 1).assignments.get(annotator=ana)
    complete_label(mine, "As submitted")
    workspace = open_workspace(mine)
    annotations.submit(mine, save_of({"requirements": workspace.requirements}, base_version=1))
    workspace.press("e", "End").type(" and more")
    expect(workspace.notices).to_contain_text("This is submitted")
    expect(workspace.state).to_have_text("Not saved")
    return workspace, mine


def test_text_beside_a_submission_is_put_together_with_it_once_reopened(
    open_workspace: Callable[[Assignment], Workspace], people: dict[str, User]
) -> None:
    workspace, mine = submitted_elsewhere(open_workspace, people["ana"])
    assert Annotation.objects.get(assignment=mine).status == "submitted"

    workspace.page.get_by_role("button", name="Reopen and compare").click()
    expect(workspace.page.locator("#version-mine")).to_contain_text("As submitted and more")
    workspace.page.get_by_role("button", name="Keep mine").click()

    expect(workspace.state).to_have_attribute("data-state", "saved")
    assert workspace.titles == ["As submitted and more"]
    assert Annotation.objects.get(assignment=mine).status == "draft"


def test_text_beside_a_submission_is_still_there_after_the_page_was_left(
    open_workspace: Callable[[Assignment], Workspace], people: dict[str, User]
) -> None:
    workspace, _ = submitted_elsewhere(open_workspace, people["ana"])
    workspace.page.goto("about:blank")

    workspace.open()
    expect(workspace.labels).to_contain_text(["As submitted"])
    workspace.page.get_by_role("button", name="Reopen to restore it").click()
    workspace.page.get_by_role("button", name="Restore unsent work").click()

    expect(workspace.state).to_have_attribute("data-state", "saved")
    assert workspace.titles == ["As submitted and more"]


def test_text_of_a_round_that_has_ended_can_be_taken_away_as_a_file(
    open_workspace: Callable[[Assignment], Workspace], people: dict[str, User]
) -> None:
    round_ = open_full(make_project(), 1)
    workspace = open_workspace(round_.assignments.get(annotator=people["ana"]))
    rounds.close(round_, by=people["rita"])

    workspace.start_label("Too late")
    expect(workspace.notices).to_contain_text("This round has ended")
    with workspace.page.expect_download() as found:
        workspace.page.get_by_role("button", name="Save my text as a file").click()

    kept = json.loads(found.value.path().read_text())
    assert [label["title"] for label in kept["requirements"]] == ["Too late"]


@pytest.mark.postgres
def test_what_is_written_while_a_submission_is_under_way_is_kept_and_said(
    open_workspace: Callable[[Assignment], Workspace], people: dict[str, User]
) -> None:
    mine = open_full(make_project(), 1).assignments.get(annotator=people["ana"])
    annotations.save_draft(mine, save_of(labels([0])))
    workspace = open_workspace(mine)
    held: list[Route] = []
    workspace.page.route("**/submit/", lambda route: held.append(route))
    workspace.press("Control+Enter")
    wait_until(workspace.page, lambda: held)
    workspace.press("e", "End").page.keyboard.insert_text(" and more")

    held[0].continue_()

    expect(workspace.notices).to_contain_text("without what you wrote since")
    assert workspace.titles == ["Order Tracking 1"]
    workspace.page.get_by_role("button", name="Reopen and compare").click()
    workspace.page.get_by_role("button", name="Keep mine").click()
    expect(workspace.state).to_have_attribute("data-state", "saved")
    assert workspace.titles == ["Order Tracking 1 and more"]
