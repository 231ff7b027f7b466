"""The network fails for a while, then the browser dies: every keystroke is back."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.contrib.auth.models import User
from playwright.sync_api import Browser, BrowserContext, Page, expect
from pytest_django.live_server_helper import LiveServer

from labeling.models import AnnotationRevision
from tests.browser.workspace import Workspace
from tests.factories import make_people, make_project, open_full

pytestmark = pytest.mark.django_db(transaction=True)

OUTAGE_MS = 4_000  # several retries; the page behaves the same after two minutes


def test_every_keystroke_is_back_after_an_outage_and_a_killed_browser(
    browser: Browser,
    context: BrowserContext,
    page: Page,
    live_server: LiveServer,
    sign_in: Callable[[User], None],
    allowed_console_errors: list[str],
) -> None:
    allowed_console_errors.append("net::ERR_")
    ana = make_people()["ana"]
    assignment = open_full(make_project(), 1).assignments.get(annotator=ana)
    sign_in(ana)
    workspace = Workspace(page, live_server, assignment).open()
    workspace.start_label("Before the outage")
    workspace.expect_saved(1)

    context.route("**/api/**", lambda route: route.abort())
    workspace.start_label("During the outage")
    expect(workspace.state).to_have_text("Not saved – retrying")
    page.wait_for_timeout(OUTAGE_MS)
    workspace.press("m", "n").type("The last letters before the crash: xyz")
    kept = context.storage_state()  # what the disk holds at this moment; no page is asked to leave
    assert AnnotationRevision.objects.count() == 1

    with browser.new_context(storage_state=kept) as later:
        again = Workspace(later.new_page(), live_server, assignment).open()
        expect(again.labels).to_have_count(1)
        again.page.get_by_role("button", name="Restore unsent work").click()
        again.expect_saved(2)
        later.set_offline(True)  # what the page sends on leaving belongs to no test

    assert workspace.titles == [
        "Before the outage",
        "During the outage",
        "The last letters before the crash: xyz",
    ]


def test_an_outage_of_two_minutes_ends_in_one_save(
    page: Page,
    live_server: LiveServer,
    sign_in: Callable[[User], None],
    allowed_console_errors: list[str],
) -> None:
    allowed_console_errors.append("net::ERR_")
    ana = make_people()["ana"]
    assignment = open_full(make_project(), 1).assignments.get(annotator=ana)
    sign_in(ana)
    page.clock.install()
    workspace = Workspace(page, live_server, assignment).open()
    page.route("**/api/**", lambda route: route.abort())
    for minute in ("First", "Second"):
        workspace.start_label(f"{minute} minute")
        page.clock.run_for(60_000)
        expect(workspace.state).to_have_text("Not saved – retrying")

    page.unroute("**/api/**")
    page.clock.run_for(16_000)  # the longest wait between two tries is 15 s

    workspace.expect_saved(1)
    assert workspace.titles == ["First minute", "Second minute"]
