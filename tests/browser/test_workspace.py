"""What an annotator lives through in the workspace, by keyboard alone."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from django.contrib.auth.models import User
from playwright.sync_api import Page, expect
from pytest_django.live_server_helper import LiveServer

from labeling.conversations.rules.importing import Turn
from labeling.models import Annotation, Assignment
from labeling.work import annotations
from tests.browser.workspace import Workspace
from tests.factories import (
    labels,
    make_project,
    make_talk,
    open_full,
    save_of,
)

pytestmark = pytest.mark.django_db(transaction=True)


def test_a_conversation_is_labeled_and_submitted_by_keyboard_alone(
    workspace: Workspace, queue: list[Assignment]
) -> None:
    workspace.open()

    workspace.press("j", "j", "m")  # begins a label that cites message 2
    workspace.type("Order Tracking").press("Tab", "4")
    workspace.field("Actor").focus()  # what Tab does in between
    workspace.type("Customer").press("Tab").type("Track the order").press("Tab")
    workspace.type("If it was paid").press("Tab")
    workspace.type("Page shows the status").press("Enter").type("Page shows the day")
    workspace.press("Tab", "2")
    workspace.field("Rationale").focus()
    workspace.type("Said in message 2").press(
        "Tab", "1", "Alt+ArrowDown", "Alt+Enter", "Control+Enter"
    )

    workspace.page.wait_for_url(f"**{queue[1].get_absolute_url()}")
    stored = Annotation.objects.get(assignment=queue[0])
    assert stored.status == "submitted"
    (label,) = stored.payload["requirements"]
    assert label.pop("uid")
    assert label == {
        "id": "REQ-001",
        "title": "Order Tracking",
        "type": "data",  # the fourth
        "actor": "Customer",
        "action": "Track the order",
        "condition": "If it was paid",
        "acceptance_criteria": ["Page shows the status", "Page shows the day"],
        "priority": "should",  # the second
        "source_messages": [2, 3],
        "rationale": "Said in message 2",
        "confidence": 1,  # the first
    }


def test_single_keys_can_be_turned_off_for_good(workspace: Workspace) -> None:
    workspace.open().press("?")
    workspace.page.get_by_label("Single-key shortcuts").uncheck()
    workspace.press("Escape")

    workspace.open().press("n", "j")

    expect(workspace.labels).to_have_count(0)
    workspace.press("Alt+ArrowDown", "Alt+Enter")  # keys with a modifier still work
    expect(workspace.message(1)).to_have_class(re.compile("linked"))


def test_a_message_is_linked_by_a_click_and_shown_from_both_sides(workspace: Workspace) -> None:
    workspace.open().start_label("Order Tracking")

    workspace.message(1).get_by_role("button", name="Link message 1").click()

    expect(workspace.message(1)).to_have_class(re.compile("linked"))
    expect(workspace.message(1).get_by_role("button", name="REQ-001")).to_be_visible()
    workspace.message(1).hover()
    expect(workspace.labels.first).to_have_class(re.compile("related"))
    workspace.press("Escape")  # the label is closed
    workspace.labels.first.hover()
    expect(workspace.message(1)).to_have_class(re.compile("related"))


def test_undo_and_redo_walk_through_the_label_operations(workspace: Workspace) -> None:
    workspace.open().press("m", "Escape", "j", "m")  # two messages linked
    expect(workspace.page.locator(".message.linked")).to_have_count(2)

    workspace.press("Control+z")
    expect(workspace.page.locator(".message.linked")).to_have_count(1)
    workspace.press("Control+z")
    expect(workspace.labels).to_have_count(0)
    workspace.press("Control+Shift+z", "Control+Shift+z")

    expect(workspace.labels).to_have_count(1)
    expect(workspace.message(1)).to_have_class(re.compile("cited"))


def test_a_label_is_not_nothing_and_an_incomplete_submission_leads_to_the_first_open_field(
    workspace: Workspace, allowed_console_errors: list[str]
) -> None:
    allowed_console_errors.append("400")
    workspace.open().start_label("Order Tracking")
    workspace.press("0")
    expect(workspace.page.locator("#empty-error")).to_contain_text("There are labels")
    expect(workspace.page.locator("#empty")).not_to_be_checked()
    workspace.press("Control+Enter")
    expect(workspace.notices).to_contain_text("Some labels are not complete yet")
    expect(workspace.page.get_by_role("radio", name="functional", exact=True)).to_be_focused()
    expect(workspace.page.locator(".label-form .error:not(:empty)").first).to_be_visible()
    assert workspace.stored is None or workspace.stored.status == "draft"


def test_text_of_users_stays_text(
    page: Page, live_server: LiveServer, sign_in: Callable[[User], None], ana: User
) -> None:
    attack = '<img src=x onerror="document.title=1"></script><script>document.title=1</script>'
    project = make_project()
    make_talk(project, "c-001", [Turn("user", "Hello"), Turn("user", attack, speaker=attack)])
    assignment = open_full(project, 1).assignments.get(annotator=ana)
    payload = labels([1])
    payload["requirements"][0]["title"] = attack
    annotations.save_draft(assignment, save_of(payload))
    sign_in(ana)

    workspace = Workspace(page, live_server, assignment).open()
    workspace.press("e")

    expect(workspace.message(1).locator(".message-text")).to_have_text(attack)
    expect(workspace.labels.first.locator(".label-title")).to_have_text(attack)
    expect(page.locator("#main img")).to_have_count(0)
    assert page.title() == "c-001 · Assay"
