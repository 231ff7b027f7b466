"""WCAG 2.2 AA as far as a machine can see it, in both themes, on a desk and on a phone."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from django.contrib.auth.models import User
from playwright.sync_api import Page, expect
from pytest_django.live_server_helper import LiveServer

from labeling.services.work import annotations
from tests.browser.workspace import Workspace
from tests.factories import labels, make_people, make_project, open_full, save_of

pytestmark = pytest.mark.django_db(transaction=True)

TAGS = {"runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]}
SMALL_TARGETS = """
[...document.querySelectorAll("button, select, textarea, .site-nav a, input:not([type=radio])")]
    .filter((one) => one.checkVisibility())
    .map((one) => [one.outerHTML.slice(0, 80), one.getBoundingClientRect()])
    .filter(([, box]) => box.height && (box.height < 24 || box.width < 24))
    .map(([html, box]) => `${html} ${box.width}x${box.height}`)
"""

every_look = pytest.mark.parametrize(
    ("theme", "width"),
    [
        ("light", 1440),
        ("dark", 390),
        pytest.param("dark", 1440, marks=pytest.mark.slow),
        pytest.param("light", 390, marks=pytest.mark.slow),
    ],
)
"""Both themes and both widths are looked at always, every pair of them by ``make test-all``."""


def look(page: Page, theme: Any, width: int) -> None:
    page.emulate_media(color_scheme=theme, reduced_motion="reduce")
    page.set_viewport_size({"width": width, "height": 844})


def assert_accessible(page: Page) -> None:
    result = Axe().run(page, options=TAGS).response["violations"]
    serious = [one for one in result if one["impact"] in ("serious", "critical")]
    assert [(one["id"], [node["html"] for node in one["nodes"]]) for one in serious] == []
    assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
    small = [one for one in page.evaluate(SMALL_TARGETS) if 'type="checkbox"' not in one]
    assert small == []


@every_look
def test_sign_in(page: Page, live_server: LiveServer, theme: str, width: int) -> None:
    look(page, theme, width)
    page.goto(f"{live_server.url}/sign-in/")
    assert_accessible(page)

    page.get_by_label("User name").fill("ana")
    page.get_by_role("button", name="Sign in").click()
    expect(page.locator("#password-error")).to_be_visible()  # the answer has replaced the page

    assert_accessible(page)


@every_look
def test_workspace(
    page: Page,
    live_server: LiveServer,
    sign_in: Callable[[User], None],
    theme: str,
    width: int,
) -> None:
    ana = make_people()["ana"]
    assignment = open_full(make_project(), 1).assignments.get(annotator=ana)
    annotations.save_draft(assignment, save_of(labels([0, 2])))
    sign_in(ana)
    look(page, theme, width)

    workspace = Workspace(page, live_server, assignment).open()
    assert_accessible(page)
    workspace.press("e")
    assert_accessible(page)
    workspace.press("Escape", "?")
    assert_accessible(page)
    workspace.press("Escape", "s")
    assert_accessible(page)
