"""The workspace as an annotator drives it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

from playwright.sync_api import Error, Locator, Page, Route, expect
from pytest_django.live_server_helper import LiveServer

from labeling.models import Annotation, Assignment

SAVES = "**/api/annotations/*/"


@contextmanager
def held_back(page: Page) -> Iterator[list[Route]]:
    """What the page saves meanwhile leaves it at the end of the block, however long that takes."""
    held: list[Route] = []
    page.route(SAVES, lambda route: held.append(route))
    yield held
    page.unroute(SAVES)
    for route in held:
        with suppress(Error):  # the page has given it up, and tries again
            route.continue_()


def wait_until(page: Page, reached: Callable[[], object]) -> None:
    """For what Playwright's own waiting does not see: the database, and what a page evaluates again
    and again, which its content security policy forbids. Until the time limit of a test.
    """
    while not reached():
        page.wait_for_timeout(20)


class Workspace:
    def __init__(self, page: Page, live_server: LiveServer, assignment: Assignment) -> None:
        self.page = page
        self.assignment = assignment
        self.url = f"{live_server.url}{assignment.get_absolute_url()}"
        self.state = page.locator("#save-state")
        self.notices = page.locator("#notices")
        self.labels = page.locator(".label-card")

    def open(self) -> Workspace:
        self.page.goto(self.url)
        expect(self.message(0)).to_have_attribute("aria-current", "true")
        return self

    def message(self, index: int) -> Locator:
        return self.page.locator(f".message[data-index='{index}']")

    def press(self, *keys: str) -> Workspace:
        for key in keys:
            self.page.keyboard.press(key)
        return self

    def type(self, text: str) -> Workspace:
        self.page.keyboard.type(text)
        return self

    def start_label(self, title: str) -> Workspace:
        """A new label with a title; the focus is back on the messages.

        The title comes at once, as from the clipboard: a save may fall between any two keys.
        """
        self.press("n").page.keyboard.insert_text(title)
        return self.press("Escape")

    def field(self, name: str) -> Locator:
        return self.page.get_by_role("textbox", name=name)

    def expect_saved(self, version: int) -> None:
        """All is saved; on a busy machine what is done in one go may be saved in two."""
        assert 1 <= version <= 9
        expect(self.state).to_contain_text(re.compile(rf"rev ([{version}-9]|\d\d)\b"))
        expect(self.state).to_have_attribute("data-state", "saved")

    @property
    def stored(self) -> Annotation | None:
        return Annotation.objects.filter(assignment=self.assignment).first()

    @property
    def titles(self) -> list[str]:
        return [label.get("title", "") for label in self.requirements]

    @property
    def requirements(self) -> list[dict[str, Any]]:
        return self.stored.payload["requirements"] if self.stored else []
