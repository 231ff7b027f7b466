"""After a submission the next conversation takes the place of the last one, in the same page."""

from __future__ import annotations

import re

import pytest
from django.contrib.auth.models import User
from playwright.sync_api import Route, expect

from labeling.models import Annotation, Assignment
from labeling.work import comments
from tests.browser.workspace import Workspace, held_back
from tests.factories import make_project, open_full

pytestmark = pytest.mark.django_db(transaction=True)

NEXT = "**/label/next/*"
SAME_PAGE = "window.isSamePage === true"


@pytest.fixture
def queue(ana: User) -> list[Assignment]:
    round_ = open_full(make_project(), 3)
    return list(round_.assignments.filter(annotator=ana).order_by("position"))


@pytest.fixture
def workspace(workspace: Workspace) -> Workspace:
    workspace.open().page.evaluate("window.isSamePage = true")
    return workspace


def submit(workspace: Workspace, following: Assignment) -> Workspace:
    workspace.press("Control+Enter")
    workspace.page.wait_for_url(f"**{following.get_absolute_url()}")
    workspace.assignment = following
    return workspace


def test_the_next_conversation_comes_in_the_same_page_with_all_that_is_its_own(
    workspace: Workspace, queue: list[Assignment]
) -> None:
    page = workspace.page
    place = comments.place_of(queue[1])
    pin = comments.Pin(message_index=2)
    comments.post(place, body="Meant?", author=queue[1].annotator, pin=pin)

    following = submit(workspace.press("c", "Escape", "Escape", "j", "j", "0"), queue[1])

    assert page.evaluate(SAME_PAGE)
    name = queue[1].conversation.external_id
    assert page.title() == f"{name} · Assay"
    expect(page.get_by_role("heading", level=1)).to_have_text(name)
    expect(page.locator("#live")).to_have_text(f"c-001 submitted. {name}, 2 of 3")
    expect(page.locator("#main")).to_be_focused()
    expect(page.locator("#panel-comments")).to_be_hidden()
    expect(following.message(0)).to_have_attribute("aria-current", "true")
    expect(following.message(2).locator(".comment-count")).to_have_text("1 comment")
    expect(page.locator("#empty")).not_to_be_checked()

    following.start_label("Belongs to the second").press("Control+s")

    following.expect_saved(1)
    assert following.titles == ["Belongs to the second"]
    assert Annotation.objects.get(assignment=queue[0]).payload == {"requirements": []}
    page.go_back()
    expect(page.locator("#labels-pane")).to_contain_text("You submitted this answer.")
    page.go_forward()
    expect(page.locator(".label-card")).to_contain_text(["Belongs to the second"])


def test_keys_while_the_next_conversation_is_on_its_way_and_late_answers_change_neither(
    workspace: Workspace, queue: list[Assignment], allowed_console_errors: list[str]
) -> None:
    page = workspace.page
    allowed_console_errors.append("409")  # a draft that comes after the submission
    held: list[Route] = []
    page.route(NEXT, lambda route: held.append(route))
    with held_back(page) as saves:
        workspace.press("0", "Control+s")
        expect(workspace.state).to_have_attribute("data-state", "saving")
        with page.expect_request(NEXT):
            workspace.press("Control+Enter")
        workspace.press("n").type("Too early")
        page.locator("button[data-action='skip']").dispatch_event("click")
        held[0].continue_()
        page.wait_for_url(f"**{queue[1].get_absolute_url()}")
        assert saves
    page.wait_for_load_state("networkidle")

    expect(page.locator(".label-card")).to_have_count(0)
    expect(page.locator("#notices .notice")).to_have_text([re.compile("c-001 submitted")])
    expect(page.locator("#save-state")).to_have_text("Nothing to save yet")
    assert page.evaluate("localStorage.length") == 0
    assert Annotation.objects.get(assignment=queue[0]).status == "submitted"
    assert not Annotation.objects.filter(assignment=queue[1]).exists()


def test_the_page_is_loaded_where_it_cannot_be_exchanged(
    workspace: Workspace, queue: list[Assignment], allowed_console_errors: list[str]
) -> None:
    page = workspace.page
    page.evaluate("document.documentElement.lang = 'de'")  # as after a change in another tab
    second = submit(workspace.press("0"), queue[1])
    expect(second.message(0)).to_have_attribute("aria-current", "true")
    assert not page.evaluate(SAME_PAGE)

    allowed_console_errors.append("net::ERR_FAILED")
    page.evaluate("window.isSamePage = true")
    page.route(NEXT, lambda route: route.abort(), times=1)
    third = submit(second.press("0"), queue[2])
    expect(third.message(0)).to_have_attribute("aria-current", "true")
    assert not page.evaluate(SAME_PAGE)

    third.press("0", "Control+Enter")
    expect(page.get_by_role("heading", name="All done")).to_be_visible()
