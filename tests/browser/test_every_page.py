"""Every page of the product under axe: WCAG 2.2 AA, light and dark, on a desk and on a phone."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse
from playwright.sync_api import Browser, Page
from pytest_django.live_server_helper import LiveServer

from tests import everything
from tests.factories import make_people, make_project
from tests.project.test_access import EXPECTED

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.timeout(900)]

WCAG = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]
EVERYTHING = {"runOnly": WCAG, "resultTypes": ["violations"]}
COLOURS = {"runOnly": {"type": "rule", "values": ["color-contrast"]}, "resultTypes": ["violations"]}
"""What the theme changes; all else was looked at in the other theme."""

PEOPLE = ("rita", "ana", "anonymous")
AXE = Axe().axe_script
SETTLED = "new Promise((go) => requestAnimationFrame(() => requestAnimationFrame(go)))"
"""The page has seen its new width."""


@pytest.mark.parametrize(
    ("theme", "rules"),
    [("light", EVERYTHING), pytest.param("dark", COLOURS, marks=pytest.mark.slow)],
)
def test_no_page_breaks_a_rule(
    browser: Browser, live_server: LiveServer, theme: str, rules: dict[str, Any]
) -> None:
    people = make_people()
    about = everything.addresses(make_project(), people)
    ours = [(name, who, live_server.url + path) for name, who, path in pages(people, about)]
    windows = {who: window(browser, live_server, people.get(who), theme) for who in PEOPLE}
    broken: dict[str, list[str]] = {}
    for name, who, url in ours:
        windows[who].goto(url)
        for width, violations in looks(windows[who], rules):
            broken |= {f"{name}, {width}": violations} if violations else {}
    for page in windows.values():
        page.context.set_offline(True)  # a page saves when it goes away
        page.context.close()

    assert broken == {}
    assert len(ours) > 50


def pages(people: dict[str, User], about: dict[str, list[Any]]) -> Iterator[tuple[str, str, str]]:
    """Each name in the table of access that answers with a whole page, and who may see it."""
    for name, row in EXPECTED.items():
        who = next((one for one in PEOPLE if getattr(row, one) == 200), None)
        if who is None or row.post or name.startswith("api-"):  # Swagger's page is not ours
            continue
        client = Client()
        if who in people:
            client.force_login(people[who])
        path = reverse(name, args=about.get(name, []))
        answer = client.get(path)
        is_html = answer["Content-Type"].startswith("text/html") and not answer.streaming
        if is_html and b"<html" in answer.content:
            yield name, who, path


def window(browser: Browser, live_server: LiveServer, user: User | None, theme: Any) -> Page:
    context = browser.new_context(reduced_motion="reduce", color_scheme=theme)
    if user:
        client = Client()
        client.force_login(user)
        session = client.cookies["sessionid"].value
        context.add_cookies([{"name": "sessionid", "value": session, "url": live_server.url}])
    return context.new_page()


def looks(page: Page, rules: dict[str, Any]) -> Iterator[tuple[int, list[str]]]:
    """What axe finds on a desk and on a phone."""
    page.evaluate(AXE)
    for width in (1440, 390):
        page.set_viewport_size({"width": width, "height": 900})
        page.evaluate(SETTLED)
        result = page.evaluate("rules => axe.run(document, rules)", rules)["violations"]
        yield width, [f"{one['id']}: {shown(one)}" for one in result]


def shown(violation: dict[str, Any]) -> str:
    nodes = violation["nodes"]
    return f"{nodes[0]['html'][:160]} ({len(nodes)})"
