"""The network is cut, the browser is killed, the server is killed: what was written is there.

The cut lasts some seconds. ``ASSAY_TEST_CUT_SECONDS=120`` makes it two minutes.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Iterator
from itertools import cycle
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from django.contrib.auth.models import User
from playwright.sync_api import Page, Playwright, expect

from labeling.models import Annotation, AnnotationRevision, Assignment
from tests.browser.crash import Desktop, Server
from tests.factories import make_project, open_full

CUT_SECONDS = int(os.environ.get("ASSAY_TEST_CUT_SECONDS", "6"))
TEXT = "What the customer asked for in this message, and why it is wanted. "
SERVER_DEATHS = 3
pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.worker,
    pytest.mark.timeout(600 + 2 * CUT_SECONDS),
]

# Notes every save that the server has accepted, and what was on the page whenever it said "Saved".
WATCH = """
window.accepted = [];
window.claimed = [];
const ask = window.fetch;
window.fetch = async (url, options) => {
    const response = await ask(url, options);
    if (options?.method === "PUT" && response.status === 200) {
        const { version } = await response.clone().json();
        accepted.push({ version, sent: JSON.parse(options.body).payload });
    }
    return response;
};
addEventListener("DOMContentLoaded", () => {
    const line = document.querySelector("#save-state");
    new MutationObserver(() => {
        const text = document.querySelector("textarea[id^=rationale]")?.value;
        if (line.dataset.state === "saved" && text) claimed.push([line.textContent, text]);
    }).observe(line, { childList: true, characterData: true, subtree: true });
});
"""


class Key(NamedTuple):
    text: str  # everything written so far
    seconds: float


@pytest.fixture
def assignment(ana: User) -> Assignment:
    return open_full(make_project(), 1).assignments.get(annotator=ana)


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    server = Server(tmp_path)
    try:
        yield server.start()
    finally:
        server.kill()


@pytest.fixture
def desktop(playwright: Playwright, tmp_path: Path) -> Iterator[Desktop]:
    desktop = Desktop(playwright, tmp_path / "profile")
    yield desktop
    desktop.kill()


def open_workspace(page: Page, server: Server, assignment: Assignment) -> None:
    page.goto(f"{server.url}{assignment.get_absolute_url()}")
    expect(page.locator(".message[data-index='0']")).to_have_attribute("aria-current", "true")


def start_label(page: Page, title: str) -> None:
    page.keyboard.press("n")
    page.keyboard.type(title)
    expect(state(page)).to_have_attribute("data-state", "saved")


def state(page: Page) -> Any:
    return page.locator("#save-state")


def write_rationale(page: Page, seconds: float) -> tuple[list[Key], set[str]]:
    """Types for that long; every key with its time, and the save states seen meanwhile."""
    page.get_by_role("textbox", name="Rationale").focus()
    keys: list[Key] = []
    states = set()
    end = time.monotonic() + seconds
    for letter in cycle(TEXT):
        if time.monotonic() > end:
            return keys, states
        page.keyboard.type(letter)
        keys.append(Key((keys[-1].text if keys else "") + letter, time.monotonic()))
        states.add(state(page).get_attribute("data-state"))
        time.sleep(0.03)
    raise AssertionError("unreachable: the text has no end")


def stored_label(assignment: Assignment) -> dict[str, Any]:
    label: dict[str, Any] = Annotation.objects.get(assignment=assignment).payload["requirements"][0]
    return label


def test_every_key_up_to_the_last_second_is_back_after_a_cut_a_killed_browser_and_a_restart(
    server: Server, desktop: Desktop, ana: User, assignment: Assignment
) -> None:
    page = desktop.open(server, ana)
    open_workspace(page, server, assignment)
    start_label(page, "Order Tracking")

    server.kill()
    keys, states = write_rationale(page, CUT_SECONDS)
    killed = time.monotonic()
    desktop.kill()
    assert "saved" not in states  # nothing was accepted, so nothing may say so
    assert "retrying" in states
    assert not stored_label(assignment).get("rationale")

    server.start()
    page = desktop.open(server, ana)
    open_workspace(page, server, assignment)
    page.get_by_role("button", name="Restore unsent work").click()
    expect(state(page)).to_have_attribute("data-state", "saved")

    back = stored_label(assignment)["rationale"]
    typed = keys[-1].text
    due = max((key.text for key in keys if key.seconds < killed - 1), key=len)
    print(
        f"cut for {CUT_SECONDS} s: {len(keys)} keys, {len(back)} back, "
        f"{len(typed) - len(due)} typed in the last second, {len(typed) - len(back)} of them lost"
    )
    assert typed.startswith(back)  # letter by letter
    assert back.startswith(due)
    assert stored_label(assignment)["title"] == "Order Tracking"


@pytest.mark.postgres
def test_no_accepted_save_is_missing_and_saved_is_never_a_lie_when_the_server_is_killed(
    server: Server, desktop: Desktop, ana: User, assignment: Assignment
) -> None:
    page = desktop.open(server, ana)
    page.add_init_script(WATCH)
    open_workspace(page, server, assignment)
    start_label(page, "Order Tracking")

    for _ in range(SERVER_DEATHS):
        page.get_by_role("textbox", name="Rationale").fill("")
        write_rationale(page, 1.5)  # longer than the debounce: the last save is under way
        server.kill()
        keys, _ = write_rationale(page, 1)
        assert_all_there(page)
        server.start()
        expect(state(page)).to_have_attribute("data-state", "saved")
        assert_all_there(page)

    assert stored_label(assignment)["rationale"].endswith(keys[-1].text)


def assert_all_there(page: Page) -> None:
    stored = {
        revision.version: revision.payload["requirements"]
        for revision in AnnotationRevision.objects.all()
    }
    accepted = page.evaluate("accepted")
    assert accepted
    for save in accepted:
        assert save["sent"]["requirements"] == stored[save["version"]]
    for said, text in page.evaluate("claimed"):
        version = int(re.search(r"rev (\d+)", said)[1])  # type: ignore[index]
        assert stored[version][0]["rationale"] == text
