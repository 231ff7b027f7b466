"""How soon a conversation can be read and labelled, on a slow machine.

    .venv/bin/python benchmarks/first_paint.py [SLOWER] [TIMES] [MESSAGES]

Starts the web server on a separate database and drives a real Chromium whose processor is made
SLOWER times slower (4 by default). An opening is cold (nothing kept by the browser) or warm; "next"
is from the key that submits to the conversation that follows. "First paint" is when its first text
is drawn, "first key" when a key (j) has moved the mark to another message and that is drawn.
Milliseconds, the median of TIMES; requests and bytes are those that the server answered.
"""

from __future__ import annotations

import json
import statistics
import sys
import tempfile
import time
from io import BytesIO
from typing import Any, NamedTuple

from product import session_of, settle, web_server
from workspace import READY, TWO_FRAMES, chromium, texts

FIRST_TEXT = """() => new Promise((done) => {
    new PerformanceObserver((list) => {
        const [paint] = list.getEntriesByName("first-contentful-paint");
        if (paint) done(performance.timeOrigin + paint.startTime);
    }).observe({ type: "paint", buffered: true });
})"""
# A page that is exchanged has been painted before: the next frame after the change counts.
WATCH_CHANGE = """() => {
    new MutationObserver((changes, observer) => {
        observer.disconnect();
        const drawn = () => (window.painted = performance.timeOrigin + performance.now());
        requestAnimationFrame(() => setTimeout(drawn));
    }).observe(document.querySelector("main"), { childList: true });
    return performance.timeOrigin + performance.now();
}"""
PAINTED_OTHERWISE = "() => window.painted ?? null"
COOKIE = {
    "name": "sessionid",
    "domain": "localhost",
    "path": "/",
    "expires": -1,
    "httpOnly": True,
    "secure": False,
    "sameSite": "Lax",
}
MOVED = ".message[data-index='1'][aria-current]"
VIEWPORT = {"width": 1440, "height": 900}


class Opening(NamedTuple):
    first_paint_ms: float
    first_key_ms: float
    requests: int
    sent_bytes: int


def main(slower: int, times: int, messages: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        settle(folder)
        session, path = prepare(times + 1, messages)
        with web_server(folder) as port, chromium() as browser:
            url = f"http://localhost:{port}"
            kept = {"cookies": [{**COOKIE, "value": session}], "origins": []}
            print(f"{messages} messages, processor {slower} times slower, median of {times}")
            print(f"{'':<8}{'first paint':>13}{'first key':>13}{'requests':>10}{'bytes':>10}")
            report("cold", [cold(browser, kept, url + path, slower) for _ in range(times)])
            context = browser.new_context(viewport=VIEWPORT, storage_state=kept)
            page, network = new_page(context, slower)
            opening(page, network, url + path)  # after this the browser has the scripts
            report("warm", [opening(page, network, url + path) for _ in range(times)])
            report("next", [following(page, network) for _ in range(times)])
            context.set_offline(True)  # nothing is sent while the server ends
            browser.close()


def prepare(number: int, messages: int) -> tuple[str, str]:
    """The session of an annotator, and the address of the first of their conversations."""
    from django.contrib.auth.models import User

    from labeling.models import Assignment, Guideline, Membership, Project
    from labeling.services.exchange.conversations import import_files
    from labeling.services.work.rounds import open_round

    user = User.objects.create(username="annotator")
    project = Project.objects.create(slug="talks", name="Talks", overlap=1)
    guide = "# Guide\n\n" + "Label **what they want**, in their words.\n\n" * 40
    Guideline.objects.create(project=project, version=1, body=guide)
    Membership.objects.create(project=project, user=user, role="annotator")
    talks = "\n".join(json.dumps(talk(n, messages)) for n in range(number)).encode()
    import_files(project_slug="talks", files=[("talks.jsonl", BytesIO(talks))], split="dev")
    batch = list(project.conversations.all())
    open_round(project=project, kind="full", by=None, conversations=batch, override_reason="-")
    return session_of(user), Assignment.objects.order_by("position")[0].get_absolute_url()


def talk(number: int, messages: int) -> dict[str, Any]:
    said = texts(messages, seed=number)
    roles = ("user", "analyst")
    turns = [{"role": roles[n % 2], "content": said[n]} for n in range(messages)]
    return {"id": f"talk-{number:03}", "messages": turns}


# The measuring


def new_page(context: Any, slower: int) -> tuple[Any, Network]:
    page = context.new_page()
    developer = context.new_cdp_session(page)
    developer.send("Emulation.setCPUThrottlingRate", {"rate": slower})
    developer.send("Network.enable")
    return page, Network(developer)


class Network:
    """How many requests the server has answered, and with how many bytes."""

    def __init__(self, developer: Any) -> None:
        self.kept: set[str] = set()
        self.sent: dict[str, float] = {}
        developer.on(
            "Network.requestServedFromCache", lambda event: self.kept.add(event["requestId"])
        )
        developer.on("Network.responseReceived", self._received)
        developer.on("Network.loadingFinished", self._finished)

    def _received(self, event: dict[str, Any]) -> None:
        if event["response"].get("fromDiskCache"):
            self.kept.add(event["requestId"])

    def _finished(self, event: dict[str, Any]) -> None:
        if event["requestId"] not in self.kept:
            self.sent[event["requestId"]] = event["encodedDataLength"]

    def forget(self) -> None:
        self.sent.clear()


def cold(browser: Any, kept: Any, url: str, slower: int) -> Opening:
    context = browser.new_context(viewport=VIEWPORT, storage_state=kept)
    page, network = new_page(context, slower)
    measured = opening(page, network, url)
    context.close()
    return measured


def opening(page: Any, network: Network, url: str) -> Opening:
    page.goto("about:blank")
    network.forget()
    began = time.time()
    page.goto(url, wait_until="commit")
    return reached(page, network, began)


def following(page: Any, network: Network) -> Opening:
    """From the key that submits to the next conversation."""
    page.keyboard.press("0")
    page.wait_for_selector("#save-state[data-state='saved']")
    page.wait_for_load_state("networkidle")
    network.forget()
    last = page.url
    began = page.evaluate(WATCH_CHANGE) / 1000
    page.keyboard.press("Control+Enter")
    page.wait_for_url(lambda url: url != last, wait_until="commit")
    return reached(page, network, began)


def reached(page: Any, network: Network, began: float) -> Opening:
    page.wait_for_selector(READY)
    page.keyboard.press("j")
    page.wait_for_selector(MOVED)
    page.evaluate(TWO_FRAMES)
    key = time.time() - began
    painted = page.evaluate(PAINTED_OTHERWISE) or page.evaluate(FIRST_TEXT)
    page.wait_for_load_state("networkidle")
    sent = network.sent
    return Opening(painted - 1000 * began, 1000 * key, len(sent), int(sum(sent.values())))


def report(name: str, openings: list[Opening]) -> None:
    paint, key, requests, sent = (
        statistics.median(column) for column in zip(*openings, strict=True)
    )
    print(f"{name:<8}{paint:>10.0f} ms{key:>10.0f} ms{requests:>10.0f}{sent:>10,.0f}", flush=True)


if __name__ == "__main__":
    sizes = [int(argument) for argument in sys.argv[1:]]
    main(*[*sizes, *(4, 9, 40)[len(sizes) :]])
