"""The workspace with every layer, panel and dialog open, in both themes and widths."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from django.contrib.auth.models import User
from playwright.sync_api import Page, expect
from pytest_django.live_server_helper import LiveServer

from labeling.models import Assignment
from labeling.schema import LAYERS
from labeling.work import annotations
from tests.browser.workspace import Workspace, held_back
from tests.factories import make_people, make_project, open_full, requirement, save_of

pytestmark = pytest.mark.django_db(transaction=True)

TAGS = {"runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]}
SMALL_TARGETS = """
[...document.querySelectorAll("button, select, textarea, .site-nav a, input:not([type=radio])")]
    .filter((one) => one.checkVisibility())
    .map((one) => [one.outerHTML.slice(0, 80), one.getBoundingClientRect()])
    .filter(([, box]) => box.height && (box.height < 24 || box.width < 24))
    .map(([html, box]) => `${html} ${box.width}x${box.height}`)
"""


def assert_accessible(page: Page) -> None:
    result = Axe().run(page, options=TAGS).response["violations"]
    serious = [one for one in result if one["impact"] in ("serious", "critical")]
    assert [(one["id"], [node["html"] for node in one["nodes"]]) for one in serious] == []
    assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
    small = [one for one in page.evaluate(SMALL_TARGETS) if 'type="checkbox"' not in one]
    assert small == []


WORDS = {"message": 0, "start": 0, "end": 7, "text": "Message"}
DRAFT = {
    "requirements": [requirement(1), requirement(2, sources=[2])],
    "inferred_requirements": [{"uid": "inferred", "id": "INF-001", "title": "Encryption"}],
    "issues": [{"uid": "issue", "field": "action", "message": "Track is unclear."}],
    "questions": [{"uid": "question", "question": "Which order?", "evidence": [0, 3]}],
    "arcs": [
        {
            "uid": "arc",
            "question": "How did it go?",
            "phases": [
                {"uid": "one", "title": "Asked", "evidence": [0]},
                {"uid": "two", "evidence": []},
            ],
        }
    ],
    "events": [
        {
            "uid": "event",
            "type": "ship",
            "trigger": WORDS,
            "arguments": [{"role": "item", "span": WORDS}],
        }
    ],
    "ratings": [{"uid": "rating", "target": "inferred", "score": 1}],
}


@pytest.fixture
def assignment(sign_in: Callable[[User], None]) -> Assignment:
    ana = make_people()["ana"]
    project = make_project(layers=list(LAYERS), event_schema={"ship": ["item", "place"]})
    found: Assignment = open_full(project, 1).assignments.get(annotator=ana)
    DRAFT["issues"][0]["requirement"] = DRAFT["requirements"][0]["uid"]
    annotations.save_draft(found, save_of(DRAFT))
    sign_in(ana)
    return found


@pytest.mark.parametrize(
    ("theme", "width"),
    [
        ("light", 1440),
        ("dark", 390),
        pytest.param("dark", 1440, marks=pytest.mark.slow),
        pytest.param("light", 390, marks=pytest.mark.slow),
    ],
)
def test_every_layer_with_its_form_every_panel_and_every_dialog(
    page: Page,
    live_server: LiveServer,
    assignment: Assignment,
    allowed_console_errors: list[str],
    theme: Any,
    width: int,
) -> None:
    """Both themes and widths are looked at always, every pair of them by ``make test-all``."""
    allowed_console_errors.append("409")
    page.emulate_media(color_scheme=theme, reduced_motion="reduce")
    page.set_viewport_size({"width": width, "height": 844})
    workspace = Workspace(page, live_server, assignment).open()
    for _ in LAYERS:
        workspace.press("e")
        expect(page.locator(".label-form")).to_be_visible()
        assert_accessible(page)
        workspace.press("Escape", "]")
    for panel in ("guidelines", "history", "comments"):
        page.evaluate(f"document.querySelector('[data-action={panel}]').click()")
        if page.locator(f"#panel-{panel}").is_hidden():  # the guidelines were open
            page.evaluate(f"document.querySelector('[data-action={panel}]').click()")
        expect(page.locator(f"#panel-{panel}")).to_be_visible()
        assert_accessible(page)
    workspace.press("Escape", "?")
    expect(page.locator("#help-dialog")).to_be_visible()
    assert_accessible(page)
    workspace.press("Escape")
    annotations.save_draft(assignment, save_of({"requirements": [requirement(1)]}, base_version=1))
    with held_back(page):
        workspace.start_label("Here").press("Control+s")
    expect(page.locator("#conflict-dialog")).to_be_visible()
    assert_accessible(page)
