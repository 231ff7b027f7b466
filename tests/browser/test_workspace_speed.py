"""500 messages and 60 labels stay quick under the fingers."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest
from django.contrib.auth.models import User
from playwright.sync_api import Page, expect
from pytest_django.live_server_helper import LiveServer

from labeling.services import annotations
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
LONGEST_TASK_MS = 100
WATCH = """
window.tasks = [];
window.delays = [];
new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) window.tasks.push(entry.duration);
}).observe({ type: "longtask" });
addEventListener("keydown", (event) => {
    const started = performance.now();
    requestAnimationFrame(() => setTimeout(() => window.delays.push(performance.now() - started)));
}, true);
"""


def test_no_key_holds_up_a_conversation_of_500_messages_with_60_labels(
    page: Page, live_server: LiveServer, sign_in: Callable[[User], None]
) -> None:
    ana = make_people()["ana"]
    project = make_project()
    make_conversations(project, 1, messages=MESSAGES)
    assignment = open_full(project, 1).assignments.get(annotator=ana)
    payload = {"requirements": [requirement(n + 1, sources=[n * 8, n * 8 + 1]) for n in range(LABELS)]}
    annotations.save_draft(assignment, save_of(payload))
    sign_in(ana)
    workspace = Workspace(page, live_server, assignment).open()
    page.evaluate(WATCH)

    started = time.monotonic()
    workspace.press(*["j"] * 100)
    expect(workspace.message(100)).to_have_attribute("aria-current", "true")
    reading = time.monotonic() - started
    workspace.press("e", "End").type(" and sixty letters are typed into the title of one label now")
    workspace.press("Escape", "j", "m", "Shift+J", "d", "Alt+Shift+ArrowDown", "Control+z")
    workspace.press("Control+s")
    expect(workspace.state).to_have_attribute("data-state", "saved")

    tasks, delays = page.evaluate("[window.tasks, window.delays]")
    print(
        f"100 × j in {reading:.2f} s; keys to painted frame: "
        f"median {sorted(delays)[len(delays) // 2]:.1f} ms, longest {max(delays):.1f} ms; "
        f"tasks over 50 ms: {[round(one) for one in tasks]}"
    )
    assert [one for one in tasks if one > LONGEST_TASK_MS] == []
