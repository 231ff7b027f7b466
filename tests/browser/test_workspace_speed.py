"""500 messages and 60 labels stay quick under the fingers.

Counted is what must not grow with the conversation: what is touched, laid out and watched.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.contrib.auth.models import User
from playwright.sync_api import Page, expect
from pytest_django.live_server_helper import LiveServer

from labeling.work import annotations
from tests.browser.workspace import Workspace
from tests.factories import (
    make_conversations,
    make_people,
    make_project,
    open_full,
    requirement,
    save_of,
)

pytestmark = pytest.mark.django_db(transaction=True)

MESSAGES, LABELS = 500, 60
SETTLE = "() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))"
COUNT = """
window.touched = new Set();
new MutationObserver((changes) => changes.forEach(({ target }) => touched.add(target)))
    .observe(document.querySelector("#workspace"), {
        subtree: true, childList: true, attributes: true, characterData: true
    });
"""
TOUCHED = "[...touched].map(({ outerHTML, data }) => (outerHTML ?? data).slice(0, 80))"


@pytest.fixture
def workspace(page: Page, live_server: LiveServer, sign_in: Callable[[User], None]) -> Workspace:
    ana = make_people()["ana"]
    project = make_project()
    make_conversations(project, 1, messages=MESSAGES)
    assignment = open_full(project, 1).assignments.get(annotator=ana)
    payload = {
        "requirements": [requirement(n + 1, sources=[n * 8, n * 8 + 1]) for n in range(LABELS)]
    }
    annotations.save_draft(assignment, save_of(payload))
    sign_in(ana)
    opened = Workspace(page, live_server, assignment).open()
    expect(page.locator(".threads")).to_contain_text("No comments yet")  # the last thing to arrive
    page.evaluate(SETTLE)
    return opened


def touched(workspace: Workspace, *keys: str) -> list[str]:
    """The nodes of the page that these keys change."""
    workspace.page.evaluate(COUNT)
    workspace.press(*keys)
    workspace.page.evaluate(SETTLE)
    found: list[str] = workspace.page.evaluate(TOUCHED)
    return found


def test_a_key_touches_what_it_concerns_and_what_is_far_away_is_not_laid_out(
    workspace: Workspace,
) -> None:
    hidden = workspace.page.evaluate(
        "[...document.querySelectorAll('.message')]"
        ".filter(one => !one.checkVisibility({contentVisibilityAuto: true})).length"
    )
    assert hidden > MESSAGES / 2
    moved = touched(workspace, "j")
    workspace.press("e", "End")
    typed = touched(workspace, "x")
    workspace.press("Escape", "j", "j")
    linked = touched(workspace, "m")

    assert len(moved) <= 6, moved  # the message left, the one reached, labels that cite them
    assert len(typed) <= 12, typed  # the card of the label with its badges, no other label
    assert len(linked) <= 16, linked  # a source in the form, a chip at the message
