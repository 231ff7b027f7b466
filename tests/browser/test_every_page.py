"""Every page under axe: WCAG 2.2 AA in both themes, on desk and phone, none wider than it.

On a phone in the light theme only pages with something new are under axe: all are in the dark one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

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

RULES = {
    "runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"],
    "resultTypes": ["violations"],
}
ELEMENTS = re.compile(r'<(\w+)(?:[^>]*?\sclass="([^"]*)")?')
"""Of which kinds a page is made: tags with their classes."""

PEOPLE = ("rita", "noor", "ana", "ben", "admin", "anonymous")
AXE = Axe().axe_script
WIDER = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
SETTLED = "new Promise((go) => requestAnimationFrame(() => requestAnimationFrame(go)))"
"""The page has seen its new width."""


class Visit(NamedTuple):
    name: str
    who: str
    path: str
    has_news: bool = True
    """Elements of a kind that no page before it has."""


@pytest.mark.parametrize("theme", ["light", pytest.param("dark", marks=pytest.mark.slow)])
def test_no_page_breaks_a_rule(browser: Browser, live_server: LiveServer, theme: str) -> None:
    people = make_people()
    about = everything.addresses(make_project(), people)
    visits = [*pages(people, about), *of_administration()]
    windows = {who: window(browser, live_server, people.get(who), theme) for who in PEOPLE}
    broken: dict[str, list[str]] = {}
    for name, who, path, has_news in visits:
        windows[who].goto(live_server.url + path)
        for width, violations in looks(windows[who], on_a_phone=has_news or theme == "dark"):
            broken |= {f"{name} for {who}, {width}": violations} if violations else {}
    for page in windows.values():
        page.context.set_offline(True)  # a page saves when it goes away
        page.context.close()

    assert broken == {}
    assert len({visit.name for visit in visits}) > 70


def pages(people: dict[str, User], about: dict[str, list[Any]]) -> Iterator[Visit]:
    """Each name in the table of access that answers with a whole page.

    For one person, and for others who get something new in it. Everybody's header is on the first
    page.
    """
    known: set[tuple[str, str]] = set()
    clients = {who: Client() for who in PEOPLE}
    for who in people.keys() & clients.keys():
        clients[who].force_login(people[who])
    for name, row in EXPECTED.items():
        if row.post or name.startswith("api-"):  # Swagger's page is not ours
            continue
        path = reverse(name, args=about.get(name, []))
        is_seen = False
        for who, client in clients.items():
            if getattr(row, who, 200) != 200:
                continue
            answer = client.get(path)
            if answer.status_code != 200 or answer.streaming:
                continue
            _, is_whole, main = answer.content.decode(errors="replace").partition("<main")
            kinds = set(ELEMENTS.findall(main))
            has_news = not kinds <= known
            if is_whole and (name == "home" or has_news or not is_seen):
                yield Visit(name, who, path, has_news)
                known |= kinds
                is_seen = True


def of_administration() -> list[Visit]:
    """Django's own pages in our colours."""
    pages = {"admin": "admin:index", "runs": "admin:evaluation_run_changelist"}
    return [Visit(name, "admin", reverse(page)) for name, page in pages.items()]


def window(browser: Browser, live_server: LiveServer, user: User | None, theme: Any) -> Page:
    context = browser.new_context(reduced_motion="reduce", color_scheme=theme)
    if user:
        client = Client()
        client.force_login(user)
        session = client.cookies["sessionid"].value
        context.add_cookies([{"name": "sessionid", "value": session, "url": live_server.url}])
    return context.new_page()


def looks(page: Page, *, on_a_phone: bool) -> Iterator[tuple[int, list[str]]]:
    """What axe finds on a desk and on a phone, and whether the page is wider than that."""
    page.evaluate(AXE)
    for width in (1440, 390):
        page.set_viewport_size({"width": width, "height": 900})
        page.evaluate(SETTLED)
        result: list[Any] = []
        if width == 1440 or on_a_phone:
            result = page.evaluate("rules => axe.run(document, rules)", RULES)["violations"]
        wider = page.evaluate(WIDER)
        sideways = [f"scrolls sideways by {wider} px"] if wider > 0 else []
        yield width, [*(f"{one['id']}: {shown(one)}" for one in result), *sideways]


def shown(violation: dict[str, Any]) -> str:
    nodes = violation["nodes"]
    return f"{nodes[0]['html'][:160]} ({len(nodes)})"
