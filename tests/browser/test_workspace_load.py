"""What one opening of the workspace asks of the network, the first time and the next."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator

import pytest
from django.contrib.auth.models import User
from django.contrib.staticfiles.storage import staticfiles_storage
from playwright.sync_api import Browser, BrowserContext, Page, expect
from pytest_django.live_server_helper import LiveServer

from tests.browser.workspace import Workspace
from tests.factories import make_conversations, make_people, make_project, open_full

pytestmark = pytest.mark.django_db(transaction=True)

MOST_REQUESTS = 7  # the page, its icon; two sheets and three scripts
MOST_STATIC_BYTES = 83_000


class Network:
    """What went over the wire; what a browser has kept does not."""

    def __init__(self, page: Page) -> None:
        self.paths: dict[str, str] = {}
        self.kept: set[str] = set()
        self.bytes: Counter[str] = Counter()
        session = page.context.new_cdp_session(page)
        session.send("Network.enable")
        session.on("Network.requestWillBeSent", self._asked)
        session.on("Network.requestServedFromCache", lambda event: self._kept(event["requestId"]))
        session.on("Network.responseReceived", self._answered)
        session.on("Network.loadingFinished", self._ended)

    def _asked(self, event: dict) -> None:
        self.paths[event["requestId"]] = "/" + event["request"]["url"].split("/", 3)[3]

    def _kept(self, request: str) -> None:
        self.kept.add(request)

    def _answered(self, event: dict) -> None:
        if event["response"].get("fromDiskCache"):
            self.kept.add(event["requestId"])

    def _ended(self, event: dict) -> None:
        self.bytes[event["requestId"]] = event["encodedDataLength"]

    @property
    def sent(self) -> dict[str, int]:
        """The bytes of each request that was answered by the server."""
        return {
            path: self.bytes[request]
            for request, path in self.paths.items()
            if request not in self.kept
        }

    def forget(self) -> None:
        self.paths.clear()
        self.kept.clear()


@pytest.fixture
def workspace(
    browser: Browser,
    context: BrowserContext,
    live_server: LiveServer,
    sign_in: Callable[[User], None],
) -> Iterator[Workspace]:
    """In a window of its own: a browser keeps nothing where requests are routed."""
    ana = make_people()["ana"]
    project = make_project()
    make_conversations(project, 1)
    sign_in(ana)
    assignment = open_full(project, 1).assignments.get(annotator=ana)
    unrouted = browser.new_context(storage_state=context.storage_state())
    yield Workspace(unrouted.new_page(), live_server, assignment)
    unrouted.set_offline(True)
    unrouted.close()


def opened(workspace: Workspace) -> None:
    workspace.open()
    expect(workspace.page.locator(".threads")).to_contain_text("No comments yet")
    workspace.page.wait_for_load_state("networkidle")


def is_static(path: str) -> bool:
    return path.startswith("/static/")


def test_the_workspace_asks_for_little_and_the_next_time_for_its_own_content_only(
    workspace: Workspace,
) -> None:
    network = Network(workspace.page)
    opened(workspace)
    cold = network.sent
    workspace.page.goto("about:blank")
    network.forget()
    opened(workspace)
    warm = network.sent

    print(f"cold: {len(cold)} requests, {sum(cold.values())} bytes: {cold}")
    print(f"warm: {len(warm)} requests, {sum(warm.values())} bytes: {warm}")
    build = {f"/static/{name}" for name in staticfiles_storage.hashed_files.values()}
    assert set(filter(is_static, cold)) <= build  # the scripts of one opening are of one build
    assert len(cold) <= MOST_REQUESTS
    assert sum(size for path, size in cold.items() if is_static(path)) <= MOST_STATIC_BYTES
    assert not any(map(is_static, warm))
    assert list(warm) == [workspace.assignment.get_absolute_url()]
