"""Comments in the workspace, by keyboard, and what others see of them."""

from __future__ import annotations

import pytest
from playwright.sync_api import Locator, expect

from labeling.models import Annotation, Comment
from tests.browser.workspace import Workspace

pytestmark = pytest.mark.django_db(transaction=True)


def panel(workspace: Workspace) -> Locator:
    return workspace.page.locator("#panel-comments")


def thread(workspace: Workspace) -> Locator:
    return panel(workspace).locator(".thread")


def test_a_comment_on_the_current_message_is_written_by_keyboard_alone_and_stays_until_it_is_sent(
    workspace: Workspace, allowed_console_errors: list[str]
) -> None:
    allowed_console_errors.append("ERR_FAILED")
    field = panel(workspace).get_by_role("textbox", name="Comment")
    workspace.open().press("j", "j", "c")
    expect(field).to_be_focused()
    workspace.page.route("**/comments/", lambda route: route.abort())
    workspace.type("Who is meant, @ben?").press("Control+Enter")
    expect(panel(workspace)).to_contain_text("the server cannot be reached")
    expect(field).to_have_value("Who is meant, @ben?")
    workspace.page.unroute("**/comments/")
    workspace.press("Control+Enter")
    expect(thread(workspace)).to_contain_text("Who is meant, @ben?")
    expect(field).to_have_value("")
    expect(workspace.message(2).locator(".comment-count")).to_have_text("1 comment")
    said = Comment.objects.get()
    assert (said.message_index, said.label_uid) == (2, "")
    assert [user.username for user in said.mentions.all()] == ["ben"]
    assert workspace.stored is None  # nothing was submitted or saved by it


def test_a_comment_is_about_the_open_label_and_saves_it_first(workspace: Workspace) -> None:
    workspace.open().press("n").type("Order Tracking").press("Escape", "c")
    expect(panel(workspace).get_by_role("textbox", name="Comment")).to_be_focused()

    workspace.type("Is it a duplicate?").press("Control+Enter")

    expect(thread(workspace)).to_contain_text("label REQ-001")
    expect(workspace.labels.first.locator(".comment-count")).to_have_text("1 comment")
    (label,) = Annotation.objects.get().payload["requirements"]
    assert Comment.objects.get().label_uid == label["uid"]
