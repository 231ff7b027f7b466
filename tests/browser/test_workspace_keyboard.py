"""A conversation of 12 messages with 3 requirements, labeled without touching the mouse."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from tests.browser.workspace import Workspace

pytestmark = pytest.mark.django_db(transaction=True)


def test_every_key_acts_where_the_focus_is(workspace: Workspace) -> None:
    page = workspace.open().page
    title = "spade ][ 0 m n 1 Delivery"  # letters, signs and digits that are keys elsewhere

    workspace.press("m").type(title).press("Tab", "6", *["Tab"] * 8, "3")

    expect(workspace.labels).to_have_count(1)
    expect(page.locator(".chips kbd:visible")).to_have_count(0)  # a confidence says its digits
    workspace.expect_saved(1)
    workspace.press("Escape", "1", "7")  # no field of choices has the focus
    expect(page.locator("#live")).to_contain_text("Digits choose in the field that has the focus")
    (label,) = workspace.requirements
    chosen = label["title"], label["type"], label.get("priority"), label["confidence"]
    assert chosen == (title, "constraint", None, 0.3)


def test_what_lacks_a_field_is_one_key_away(workspace: Workspace) -> None:
    page = workspace.open().page

    workspace.press("m").type("Order Tracking").press("Tab", "2", "Escape")
    workspace.press("Escape", "j", "m").type("Order History").press("Tab", "4", "Escape")

    expect(page.locator(".label-card .badge.warn")).to_have_count(2)
    workspace.press("u")
    expect(workspace.labels.first).to_have_class(re.compile("open"))
    expect(workspace.field("Actor")).to_be_focused()  # its first open field
