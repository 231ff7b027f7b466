"""From sign-in on an empty installation to the first answers: every click and page load."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from django.contrib.auth.models import User
from playwright.sync_api import Browser, Locator, Page, Request, expect
from pytest_django.live_server_helper import LiveServer

from labeling.models import Annotation
from tests.browser.conftest import PATIENCE, REPORT_VIOLATIONS, error_text
from tests.browser.workspace import wait_until

pytestmark = pytest.mark.django_db(transaction=True)

PASSWORD = "a river 27 stones"


class Person:
    """A browser whose clicks and documents are counted."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.clicks = 0
        self.loads: list[str] = []
        page.on("request", self.look)

    def look(self, request: Request) -> None:
        if request.is_navigation_request() and request.redirected_from is None:
            self.loads.append(f"{request.method} {urlsplit(request.url).path}")

    def click(self, control: Locator) -> None:
        self.clicks += 1
        control.click()

    def press(self, name: str) -> None:
        self.click(self.page.get_by_role("button", name=name))


@pytest.fixture
def interviews(tmp_path: Path) -> Path:
    path = tmp_path / "interviews.jsonl"
    talks = [
        {
            "id": f"talk-{number:02d}",
            "messages": [
                {"role": "analyst", "content": f"What do you look for in flat {number}?"},
                {"role": "user", "content": f"A balcony of {number} m², and quiet at night."},
            ],
        }
        for number in range(25)
    ]
    path.write_text("\n".join(map(json.dumps, talks)), "utf-8")
    return path


@contextmanager
def person(browser: Browser, live_server: LiveServer) -> Iterator[Person]:
    context = browser.new_context(viewport={"width": 1440, "height": 900}, base_url=live_server.url)
    context.set_default_timeout(PATIENCE)
    context.add_init_script(REPORT_VIOLATIONS)
    errors: list[str] = []
    context.on("console", lambda message: errors.extend(error_text(message)))
    context.on("weberror", lambda error: errors.append(str(error.error)))
    yield Person(context.new_page())
    logged = [*errors]  # what a page asks for once it is offline fails, and may
    context.set_offline(True)
    context.close()
    assert logged == []


def test_a_team_begins_in_twelve_clicks_and_nine_page_loads(
    browser: Browser, live_server: LiveServer, interviews: Path
) -> None:
    User.objects.create_user("rita", password=PASSWORD, is_staff=True)
    with (
        person(browser, live_server) as rita,
        person(browser, live_server) as ana,
        person(browser, live_server) as ben,
    ):
        links = prepare(rita, interviews)
        for newcomer, link in zip((ana, ben), links, strict=True):
            join(newcomer, link)
        rita.press("Open the calibration round")
        for newcomer in (ana, ben):
            answer(newcomer)
        people = {"rita": rita, "ana": ana, "ben": ben}
        for name, one in people.items():
            print(name, one.clicks, one.loads)
        clicks = sum(one.clicks for one in people.values())
        loads = sum(len(one.loads) for one in people.values())

    assert Annotation.objects.filter(status="submitted").count() == 2
    assert (clicks, loads) == (12, 9)


def prepare(rita: Person, interviews: Path) -> list[str]:
    """Returns the links of the invitations."""
    page = rita.page
    page.goto("/")
    page.get_by_label("User name").fill("rita")
    page.get_by_label("Password").fill(PASSWORD)
    rita.press("Sign in")
    page.get_by_label("Name", exact=True).fill("Flats")
    rita.press("Create project")
    with page.expect_file_chooser() as chosen:
        rita.click(page.get_by_label("File"))
    chosen.value.set_files(interviews)
    rita.press("Preview")
    rita.press("Import 25 conversations")
    rita.press("Use these guidelines")
    page.get_by_label("Names or addresses").fill("ana, ben")
    rita.press("Invite annotators")
    expect(page.locator(".mapping input")).to_have_count(2)
    return [box.input_value() for box in page.locator(".mapping input").all()]


def join(newcomer: Person, link: str) -> None:
    page = newcomer.page
    page.goto(link)
    for box in page.locator("input[type=password]").all():
        box.fill(PASSWORD)
    newcomer.press("Create an account and join")
    page.wait_for_url("**/")


def answer(newcomer: Person) -> None:
    page, before = newcomer.page, Annotation.objects.filter(status="submitted").count()
    expect(page.get_by_role("heading", name="Read this before you start")).to_be_visible()
    newcomer.press("Understood, start")  # which has come by itself
    expect(page.locator(".message").first).to_have_attribute("aria-current", "true")
    page.remove_listener("request", newcomer.look)  # what follows the answer is not counted
    page.keyboard.press("0")
    page.keyboard.press("Control+Enter")
    wait_until(page, lambda: Annotation.objects.filter(status="submitted").count() > before)
