"""What an annotator lives through in the workspace, by keyboard alone."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from django.contrib.auth.models import User
from playwright.sync_api import Page, expect
from pytest_django.live_server_helper import LiveServer

from labeling.domain.exchange.importing import Turn
from labeling.domain.keys import KEYS
from labeling.models import Annotation, Assignment
from labeling.services.work import annotations
from tests.browser.workspace import Workspace
from tests.factories import (
    answer,
    labels,
    make_people,
    make_project,
    make_talk,
    open_full,
    save_of,
)

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def ana() -> User:
    return make_people()["ana"]


@pytest.fixture
def queue(ana: User) -> list[Assignment]:
    """Two conversations of four messages for Ana."""
    round_ = open_full(make_project(), 2)
    return list(round_.assignments.filter(annotator=ana).order_by("position"))


@pytest.fixture
def workspace(
    page: Page,
    live_server: LiveServer,
    sign_in: Callable[[User], None],
    ana: User,
    queue: list[Assignment],
) -> Workspace:
    sign_in(ana)
    return Workspace(page, live_server, queue[0])


def test_a_conversation_is_labeled_and_submitted_by_keyboard_alone(
    workspace: Workspace, queue: list[Assignment]
) -> None:
    workspace.open()

    workspace.press("j", "j", "m")  # begins a label that cites message 2
    workspace.type("Order Tracking").press("Tab", "4", "p", "p", "f")
    workspace.field("Actor").focus()  # what Tab does in between
    workspace.type("Customer").press("Tab").type("Track the order").press("Tab")
    workspace.type("If it was paid").press("Tab")
    workspace.type("Page shows the status").press("Enter").type("Page shows the day")
    workspace.field("Rationale").focus()
    workspace.type("Said in message 2").press("Alt+ArrowDown", "Alt+Enter", "Control+Enter")

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


def test_after_the_last_conversation_the_page_says_what_comes_next(
    workspace: Workspace, queue: list[Assignment]
) -> None:
    answer(queue[1])
    workspace.open()

    workspace.press("0", "Control+Enter")

    expect(workspace.page.get_by_text("You have finished")).to_be_visible()


def test_nothing_here_is_an_answer_of_its_own(workspace: Workspace) -> None:
    workspace.open()

    workspace.press("0", "Control+s")

    workspace.expect_saved(1)
    assert workspace.stored is not None
    assert (workspace.stored.empty, workspace.requirements) == (True, [])


def test_nothing_here_is_refused_beside_a_label_and_says_so(workspace: Workspace) -> None:
    workspace.open().start_label("Order Tracking")

    workspace.press("0")

    expect(workspace.page.locator("#empty-error")).to_contain_text("There are labels")
    expect(workspace.page.locator("#empty")).not_to_be_checked()


def test_no_label_starts_beside_nothing_here(workspace: Workspace) -> None:
    workspace.open().press("0")

    workspace.press("n")

    expect(workspace.labels).to_have_count(0)
    expect(workspace.page.locator("#empty-error")).to_contain_text("press 0 to take it back")


def test_single_keys_are_letters_while_typing(workspace: Workspace) -> None:
    workspace.open().press("n")

    workspace.type("jkmn0sge? 12")

    expect(workspace.field("Title")).to_have_value("jkmn0sge? 12")
    expect(workspace.labels).to_have_count(1)
    expect(workspace.message(0)).to_have_attribute("aria-current", "true")
    expect(workspace.page.locator("dialog[open]")).to_have_count(0)


def test_single_keys_with_a_modifier_or_in_composition_do_nothing(workspace: Workspace) -> None:
    workspace.open()

    workspace.press("Alt+n", "Control+m")
    workspace.page.evaluate(
        """document.body.dispatchEvent(
            new KeyboardEvent("keydown", {key: "n", isComposing: true, bubbles: true}))"""
    )

    expect(workspace.labels).to_have_count(0)


def test_single_keys_can_be_turned_off_for_good(workspace: Workspace) -> None:
    workspace.open().press("?")
    workspace.page.get_by_label("Single-key shortcuts").uncheck()
    workspace.press("Escape")

    workspace.open().press("n", "j")

    expect(workspace.labels).to_have_count(0)
    workspace.press("Alt+ArrowDown", "Alt+Enter")  # keys with a modifier still work
    expect(workspace.message(1)).to_have_class(re.compile("linked"))


def test_the_help_shows_every_key_of_the_table(workspace: Workspace) -> None:
    workspace.open()

    workspace.press("?")

    for key in KEYS:
        expect(workspace.page.locator("#help-dialog")).to_contain_text(key.label)


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


def test_a_deleted_label_comes_back_by_undo(workspace: Workspace) -> None:
    workspace.open().start_label("First").press("Escape").start_label("Second")

    workspace.press("Delete")
    expect(workspace.labels).to_have_count(1)
    workspace.page.get_by_role("button", name="Undo").click()

    expect(workspace.labels).to_have_count(2)
    workspace.press("Control+s")
    expect(workspace.state).to_contain_text("Saved")
    assert workspace.titles == ["First", "Second"]


def test_undo_of_a_deletion_is_offered_until_the_next_change(workspace: Workspace) -> None:
    workspace.open().start_label("First").press("Escape").start_label("Second")
    workspace.press("Delete")
    undo = workspace.page.get_by_role("button", name="Undo")
    expect(undo).to_be_visible()

    workspace.press("d")  # what could be undone now is the copy

    expect(workspace.labels).to_have_count(2)
    expect(undo).to_have_count(0)
    workspace.press("Control+z", "Control+z")
    expect(workspace.page.locator(".label-title")).to_have_text(["First", "Second"])


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


def test_an_incomplete_submission_leads_to_the_first_open_field(
    workspace: Workspace, allowed_console_errors: list[str]
) -> None:
    allowed_console_errors.append("400")
    workspace.open().start_label("Order Tracking")

    workspace.press("Control+Enter")

    expect(workspace.notices).to_contain_text("Some labels are not complete yet")
    expect(workspace.page.get_by_role("radio", name="functional", exact=True)).to_be_focused()
    expect(workspace.page.locator(".label-form .error:not(:empty)").first).to_be_visible()
    assert workspace.stored is None or workspace.stored.status == "draft"


def test_where_there_is_no_label_the_page_speaks_of_nothing_here_and_of_no_label(
    workspace: Workspace, allowed_console_errors: list[str]
) -> None:
    allowed_console_errors.append("400")

    workspace.open().press("Control+Enter")

    expect(workspace.page.locator("#empty-error")).to_contain_text("There is no label.")
    expect(workspace.page.locator("#empty")).to_be_focused()
    expect(workspace.notices).to_be_empty()


def test_what_was_wrong_with_a_label_goes_with_it(
    workspace: Workspace, allowed_console_errors: list[str]
) -> None:
    allowed_console_errors.append("400")
    workspace.open().start_label("Order Tracking").press("Control+Enter")
    expect(workspace.notices).to_contain_text("REQ-001: Type")

    workspace.press("Escape", "Escape", "Delete")

    expect(workspace.labels).to_have_count(0)
    expect(workspace.notices).not_to_contain_text("not complete")


def test_a_title_that_is_too_long_is_named_and_stays_in_sight(
    workspace: Workspace, allowed_console_errors: list[str]
) -> None:
    allowed_console_errors.append("400")

    workspace.open().press("n").page.keyboard.insert_text("x" * 3000)

    expect(workspace.notices).to_have_text("These labels cannot be stored. REQ-001: Title.")
    height = "element => element.getBoundingClientRect().height"
    assert workspace.labels.first.locator(".label-title").evaluate(height) < 100
    workspace.press("Control+a").page.keyboard.insert_text("Order Tracking")
    workspace.expect_saved(1)
    expect(workspace.notices).to_be_empty()


def test_home_and_end_go_to_the_first_and_the_last_message(workspace: Workspace) -> None:
    workspace.open().press("End")
    expect(workspace.message(3)).to_be_focused()
    workspace.press("Home")
    expect(workspace.message(0)).to_be_focused()

    workspace.press("n", "End").type("!")  # in a field the keys are the field's
    expect(workspace.field("Title")).to_have_value("!")


def test_a_field_left_open_says_so_and_the_draft_is_saved(workspace: Workspace) -> None:
    workspace.open().start_label("Order Tracking")

    workspace.field("Acceptance criteria").fill("Only one")
    workspace.press("Tab")

    expect(workspace.page.locator(".field", has_text="Acceptance criteria")).to_contain_text(
        "Still open."
    )
    workspace.press("Control+s")
    expect(workspace.state).to_contain_text("Saved")
    assert workspace.requirements[0]["acceptance_criteria"] == ["Only one"]


def test_a_skip_needs_a_reason_and_goes_on(workspace: Workspace, queue: list[Assignment]) -> None:
    workspace.open().press("s", "Control+Enter")
    expect(workspace.page.locator("#skip-error")).to_have_text("Say why, in a few words.")

    workspace.type("In a language I do not read").press("Control+Enter")

    workspace.page.wait_for_url(f"**{queue[1].get_absolute_url()}")
    stored = Annotation.objects.get(assignment=queue[0])
    assert (stored.status, stored.skip_reason) == ("skipped", "In a language I do not read")


def test_a_submitted_answer_is_shown_and_cannot_be_changed(workspace: Workspace) -> None:
    answer(workspace.assignment, [0, 2])
    workspace.open()

    workspace.press("n", "0", "e")

    expect(workspace.labels).to_have_count(2)
    expect(workspace.labels.first).to_contain_text("Track order number 1")
    expect(workspace.page.locator("#labels-pane input[type=text]")).to_have_count(0)
    expect(workspace.page.get_by_role("button", name="Next conversation")).to_be_visible()


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
