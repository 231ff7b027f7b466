"""The workspace as an annotator drives it."""

from __future__ import annotations

from typing import Any

from playwright.sync_api import Locator, Page, expect
from pytest_django.live_server_helper import LiveServer

from labeling.models import Annotation, Assignment

SAVES = "**/api/annotations/*/"


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
        """A new label with a title; the focus is back on the messages."""
        return self.press("n").type(title).press("Escape")

    def field(self, name: str) -> Locator:
        return self.page.get_by_role("textbox", name=name)

    def expect_saved(self, version: int) -> None:
        expect(self.state).to_contain_text(f"rev {version}")

    @property
    def stored(self) -> Annotation | None:
        return Annotation.objects.filter(assignment=self.assignment).first()

    @property
    def titles(self) -> list[str]:
        return [label.get("title", "") for label in self.requirements]

    @property
    def requirements(self) -> list[dict[str, Any]]:
        return self.stored.payload["requirements"] if self.stored else []
