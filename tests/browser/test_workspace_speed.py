"""500 messages and 60 labels stay quick under the fingers."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.contrib.auth.models import User
from playwright.sync_api import CDPSession, Page, expect
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
LONGEST_TASK_MS = 500  # a freeze on any machine; what it really takes is printed
WATCH = """
window.tasks = [];
new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) window.tasks.push(entry.duration);
}).observe({ type: "longtask" });
"""


def test_no_key_holds_up_a_conversation_of_500_messages_with_60_labels(
    page: Page, live_server: LiveServer, sign_in: Callable[[User], None]
) -> None:
    ana = make_people()["ana"]
    project = make_project()
    make_conversations(project, 1, messages=MESSAGES)
    assignment = open_full(project, 1).assignments.get(annotator=ana)
    payload = {
        "requirements": [requirement(n + 1, sources=[n * 8, n * 8 + 1]) for n in range(LABELS)]
    }
    annotations.save_draft(assignment, save_of(payload))
    sign_in(ana)
    workspace = Workspace(page, live_server, assignment).open()
    page.evaluate(WATCH)
    developer = page.context.new_cdp_session(page)
    developer.send("Performance.enable")

    before = seconds_of_work(developer)
    workspace.press(*["j"] * 100)
    expect(workspace.message(100)).to_have_attribute("aria-current", "true")
    reading = seconds_of_work(developer) - before
    workspace.press("e", "End").type(" and sixty letters are typed into the title of one label now")
    workspace.press("Escape", "j", "m", "Shift+J", "d", "Alt+Shift+ArrowDown", "Control+z")
    workspace.press("Control+s")
    expect(workspace.state).to_have_attribute("data-state", "saved")

    tasks = page.evaluate("window.tasks")
    print(f"{reading * 10:.1f} ms of work per j; tasks over 50 ms: {[round(one) for one in tasks]}")
    assert [one for one in tasks if one > LONGEST_TASK_MS] == []


def seconds_of_work(developer: CDPSession) -> float:
    """What the page's main thread has done so far: script, style, layout, paint."""
    metrics = developer.send("Performance.getMetrics")["metrics"]
    return float(next(one["value"] for one in metrics if one["name"] == "TaskDuration"))
