"""A real browser for the tests of this folder.

``page`` fails its test when the page logged an error or broke the content security policy, except
for the texts that the test put into ``allowed_console_errors`` (a cut connection logs an error).
"""

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

# Read when the database is made: Playwright keeps an event loop in the thread of the tests.
os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "true"

import pytest
from django.conf import settings
from django.contrib.auth.models import User
from django.contrib.staticfiles import handlers
from django.core.management import call_command
from django.test import Client, override_settings
from playwright.sync_api import (
    Browser,
    BrowserContext,
    ConsoleMessage,
    Page,
    Playwright,
    expect,
    sync_playwright,
)
from pytest_django.live_server_helper import LiveServer

from config.bootstrap import BROWSERS
from labeling.models import Assignment
from tests.browser.workspace import Workspace
from tests.factories import make_project, open_full

HERE = Path(__file__).parent
PATIENCE = 30_000  # milliseconds; a busy machine needs them, a test that passes never does
expect.set_options(timeout=PATIENCE)
ARGUMENTS = [
    "--no-sandbox",  # root has no sandbox, and the pages are our own
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE localhost, EXCLUDE 127.0.0.1",
]
REPORT_VIOLATIONS = """
document.addEventListener("securitypolicyviolation", (event) => {
    console.error(`CSP: ${event.violatedDirective} blocked ${event.blockedURI}`);
});
"""
NO_SUCH_ADDRESS = "**/no-such-address"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if HERE in item.path.parents:
            item.add_marker(pytest.mark.browser)


def browser_path() -> str:
    result = next(filter(None, map(shutil.which, BROWSERS)), None)
    if result is None:
        pytest.fail("No Chromium found: install the package 'chromium'.", pytrace=False)
    return result


@pytest.fixture(autouse=True, scope="session")
def built_static_files(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Browsers are sent what people are sent: by WhiteNoise, from what collectstatic has built."""
    storages = {**settings.STORAGES, "staticfiles": {"BACKEND": "config.assets.BuiltFiles"}}
    folder = tmp_path_factory.mktemp("static")
    with (
        override_settings(STATIC_ROOT=folder, STORAGES=storages),
        pytest.MonkeyPatch.context() as patch,
    ):
        call_command("collectstatic", interactive=False, verbosity=0)
        patch.setattr(handlers, "StaticFilesHandler", lambda application: application)
        yield


@pytest.fixture(scope="session")
def playwright() -> Iterator[Playwright]:
    with sync_playwright() as playwright:
        yield playwright


@pytest.fixture(scope="session")
def browser(playwright: Playwright) -> Iterator[Browser]:
    browser = playwright.chromium.launch(executable_path=browser_path(), args=ARGUMENTS)
    yield browser
    browser.close()


@pytest.fixture
def context(browser: Browser) -> Iterator[BrowserContext]:
    context = browser.new_context(viewport={"width": 1440, "height": 900})
    context.set_default_timeout(PATIENCE)
    context.add_init_script(REPORT_VIOLATIONS)
    # A page that was opened before the first route may let its next request pass by it.
    context.route(NO_SUCH_ADDRESS, lambda route: route.abort())
    yield context
    context.set_offline(True)  # a page saves when it goes away, but the data of the test is gone
    context.close()


@pytest.fixture
def allowed_console_errors() -> list[str]:
    return []


@pytest.fixture
def page(context: BrowserContext, allowed_console_errors: list[str]) -> Iterator[Page]:
    errors: list[str] = []
    context.on("console", lambda message: errors.extend(error_text(message)))
    context.on("weberror", lambda error: errors.append(str(error.error)))

    yield context.new_page()

    allowed = tuple(allowed_console_errors)
    unexpected = [text for text in errors if not any(part in text for part in allowed)]
    assert unexpected == [], "the page logged errors"


def error_text(message: ConsoleMessage) -> list[str]:
    if message.type != "error":
        return []
    return [f"{message.text} ({message.location.get('url', '')})"]


@pytest.fixture
def sign_in(context: BrowserContext, live_server: LiveServer) -> Callable[[User], None]:
    """Signs a person in for every page of the browser context, without the form."""

    def signed_in(user: User) -> None:
        client = Client()
        client.force_login(user)
        session = client.cookies[settings.SESSION_COOKIE_NAME].value
        context.add_cookies(
            [{"name": settings.SESSION_COOKIE_NAME, "value": session, "url": live_server.url}]
        )

    return signed_in


@pytest.fixture
def queue(ana: User) -> list[Assignment]:
    """Two conversations of four messages for Ana."""
    round_ = open_full(make_project(), 2)
    return list(round_.assignments.filter(annotator=ana).order_by("position"))


@pytest.fixture
def workspace(
    page: Page,
    live_server: LiveServer,
    sign_in: Callable[[User], None],
    ana: User,
    queue: list[Assignment],
) -> Workspace:
    """Ana's page of the first of her queue, which is not open yet."""
    sign_in(ana)
    return Workspace(page, live_server, queue[0])
