"""The way of an annotator in German: queue, workspace, submission."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.contrib.auth.models import User
from playwright.sync_api import Page, expect
from pytest_django.live_server_helper import LiveServer

from tests.browser.workspace import Workspace
from tests.factories import make_people, make_project, open_full

pytestmark = pytest.mark.django_db(transaction=True)


def test_an_annotator_works_in_german_from_queue_to_submission(
    page: Page,
    live_server: LiveServer,
    sign_in: Callable[[User], None],
    allowed_console_errors: list[str],
) -> None:
    allowed_console_errors.append("400 (Bad Request)")  # an incomplete answer is refused once
    ana = make_people()["ana"]
    assignment = open_full(make_project(), 1).assignments.get(annotator=ana)
    sign_in(ana)

    page.goto(live_server.url)
    page.locator("details.menu summary").click()
    page.get_by_role("button", name="Deutsch").click()

    expect(page.locator("html")).to_have_attribute("lang", "de")
    expect(page.get_by_role("heading", level=1)).to_have_text("Meine Warteschlange")
    expect(page.get_by_role("link", name="Offen")).to_be_visible()

    workspace = Workspace(page, live_server, assignment).open()
    expect(page.get_by_text("Noch kein Label")).to_be_visible()
    expect(page.locator("[data-action=submit] kbd")).to_have_text("Strg ⏎")
    workspace.press("m").type("Passwort zurücksetzen").press("Escape")
    expect(workspace.state).to_contain_text("Gespeichert")
    expect(workspace.labels).to_have_count(1)
    workspace.press("?")
    expect(page.locator("#help-keys")).to_contain_text("j oder ↓ oder")
    expect(page.get_by_text("Nächste Nachricht").first).to_be_visible()
    workspace.press("Escape", "e")
    expect(page.get_by_text("Akzeptanzkriterien").first).to_be_visible()

    workspace.press("Control+Enter")
    expect(workspace.notices).to_contain_text("Einige Labels sind noch nicht vollständig.")
    workspace.press("Escape", "Escape", "Delete", "0")
    expect(page.locator("#live")).to_contain_text("hier ist nichts")
    workspace.press("Control+Enter")

    expect(page.get_by_role("heading", level=1)).to_have_text("Meine Warteschlange")
    assert workspace.stored is not None
    assert workspace.stored.status == "submitted"
