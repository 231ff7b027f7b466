"""Text of people in the direction of its own script, on the pages where they read and write."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.contrib.auth.models import User
from playwright.sync_api import Page, expect
from pytest_django.live_server_helper import LiveServer

from labeling.conversations.rules.importing import Turn
from labeling.work import annotations
from tests.browser.workspace import Workspace
from tests.factories import make_people, make_project, make_talk, open_full, requirement, save_of

pytestmark = pytest.mark.django_db(transaction=True)

SAID = {
    "مرحبا نحتاج 3 تقارير!": "rtl",
    "שלום, order 12 מחר!": "rtl",
    "🙂 مرحبا!": "rtl",
    "Use المشروع for 5 orders!": "ltr",
}
MISPLACED = """
() => {
    const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    const at = (node, from) => {
        const range = new Range();
        range.setStart(node, from);
        range.setEnd(node, from + 1);
        return range.getBoundingClientRect();
    };
    const wrong = [];
    let seen = 0;
    while (texts.nextNode()) {
        const node = texts.currentNode;
        if (!node.parentElement.checkVisibility()) continue;
        for (const { index } of node.data.matchAll(/[\\u0590-\\u06ff](?=!)/g)) {
            const [letter, mark] = [at(node, index), at(node, index + 1)];
            if (!letter.width || letter.top !== mark.top) continue;
            seen += 1;
            if (mark.left >= letter.left) wrong.push(node.data);
        }
    }
    return { seen, wrong };
}
"""
"""The mark that ends right-to-left text is at its left, wherever the text is shown."""

NUMBER_FIRST = """
(message) => {
    const [number, text] = [".message-link", ".message-text"].map((part) =>
        message.querySelector(part).getBoundingClientRect());
    return number.right <= text.left;
}
"""


def test_every_text_has_the_direction_of_its_script(
    page: Page, live_server: LiveServer, sign_in: Callable[[User], None]
) -> None:
    people = make_people()
    project = make_project()
    project.name = "طلبات!"
    project.save()
    User.objects.filter(username="ana").update(first_name="عائشة!")
    turns = [Turn(role="user", content=text, speaker="سارة!") for text in SAID]
    talk = make_talk(project, "talk", turns)
    assignment = open_full(project, 1).assignments.get(annotator=people["ana"])
    label = requirement(1, title="تتبع!", rationale="مهم!")
    annotations.save_draft(assignment, save_of({"requirements": [label]}))
    sign_in(people["ana"])

    workspace = Workspace(page, live_server, assignment).open()
    for index, direction in enumerate(SAID.values()):
        text = workspace.message(index).locator(".message-text")
        expect(text).to_have_css("direction", direction)
        assert workspace.message(index).evaluate(NUMBER_FIRST)
    assert_in_place(page)
    workspace.press("e")
    expect(page.locator(".label-form")).to_be_visible()
    assert_in_place(page)
    workspace.press("Escape", "s", "Escape")
    expect(page.locator("#skip-dialog")).to_be_hidden()
    assert page.evaluate("document.activeElement !== document.body")

    sign_in(people["rita"])
    for path in ("", "members/", "conversations/", f"conversations/{talk.pk}/", "progress/"):
        page.goto(f"{live_server.url}{project.get_absolute_url()}{path}")
        assert_in_place(page)


def assert_in_place(page: Page) -> None:
    shown = page.evaluate(MISPLACED)
    assert (page.url, shown["wrong"]) == (page.url, [])
    assert shown["seen"] > 0, page.url
