"""How much work the workspace makes in the browser: each key, a scroll, opening the page.

    .venv/bin/python benchmarks/workspace.py [MESSAGES] [LABELS] [TIMES]

Starts the web server on a separate database and drives a real Chromium. A figure is the processor
time of the page's main thread (script, style, layout, paint) from the key to the second frame after
it, so that other programs on the machine do not count; a frame at 60 Hz has 16.7 ms. "nothing" is
what the measuring itself costs and is part of every other line. "Busy" is the same conversation
with suggestions, hits of a search and comments shown.
"""

from __future__ import annotations

import random
import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from product import session_of, settle, web_server

FRAME_MS = 1000 / 60
SUGGESTIONS, COMMENTS = 20, 60
TWO_FRAMES = "() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))"
READY = ".message[aria-current]"


def main(messages: int, labels: int, times: int) -> int:
    with tempfile.TemporaryDirectory() as folder:
        settle(folder)
        session, paths = prepare(messages, labels)
        with web_server(folder) as port, chromium() as browser:
            url = f"http://localhost:{port}"
            context = browser.new_context(viewport={"width": 1440, "height": 900})
            context.add_cookies([{"name": "sessionid", "value": session, "url": url}])
            print(f"{messages} messages, {labels} labels, each key {times} times; a frame: 16.7 ms")
            measure_opening(context, url + paths["plain"])
            slowest = [measure(context, url + path, name, times) for name, path in paths.items()]
            context.set_offline(True)  # nothing is sent while the server ends
            browser.close()
    return int(max(slowest) > FRAME_MS)


@contextmanager
def chromium() -> Iterator[Any]:
    from playwright.sync_api import sync_playwright

    from config.bootstrap import BROWSERS

    with sync_playwright() as playwright:
        path = next(filter(None, map(shutil.which, BROWSERS)))
        arguments = ["--no-sandbox", "--disable-gpu"]
        yield playwright.chromium.launch(executable_path=path, args=arguments)


# The conversations


def prepare(messages: int, labels: int) -> tuple[str, dict[str, str]]:
    """The session of an annotator, and the addresses of a plain and a busy conversation."""
    from django.contrib.auth.models import User

    from labeling.models import Assignment, Guideline, Membership, Project
    from labeling.services.work.rounds import open_round

    user = User.objects.create(username="annotator")
    project = Project.objects.create(slug="long", name="Long talks", overlap=1)
    Guideline.objects.create(project=project, version=1, body="# Guide\n\nLabel what they want.")
    Membership.objects.create(project=project, user=user, role="annotator")
    talks = {name: conversation(project, name, messages) for name in ("plain", "busy")}
    open_round(
        project=project,
        kind="full",
        by=None,
        conversations=list(talks.values()),
        override_reason="-",
    )
    for name, talk in talks.items():
        assignment = Assignment.objects.get(conversation=talk)
        fill(assignment, messages, labels, busy=name == "busy")
    paths = {a.conversation.external_id: a.get_absolute_url() for a in Assignment.objects.all()}
    return session_of(user), {name: paths[name] for name in talks}


def conversation(project: Any, name: str, messages: int) -> Any:
    from labeling.domain import transcripts
    from labeling.domain.exchange.importing import Turn, content_sha256
    from labeling.models import Conversation, Transcript

    turns = [Turn("user", c, ("Emi", "Elise")[n % 2]) for n, c in enumerate(texts(messages))]
    talk = Conversation.objects.create(
        project=project,
        external_id=name,
        n_messages=len(turns),
        content_sha256=content_sha256(turns),
        split="dev",
    )
    Transcript.objects.create(conversation=talk, messages=transcripts.written(turns))
    return talk


def texts(number: int, seed: int = 0) -> list[str]:
    """Chat messages: most of them short, some of several lines."""
    dice = random.Random(seed)
    words = "we need to track every order on one page with its status and a history of changes"
    return [
        f"[{n}] " + " ".join(dice.choices(words.split(), k=dice.choice((6, 12, 20, 60))))
        for n in range(number)
    ]


def fill(assignment: Any, messages: int, labels: int, *, busy: bool) -> None:
    from labeling.services.work import annotations, suggestion_requests, suggestions

    drawn = [label(n, messages, labels) for n in range(labels)]
    save = annotations.Save(0, None, 1, {"requirements": drawn})
    annotations.save_draft(assignment, save)
    if not busy:
        return
    from labeling.models import SuggestionRequest

    asked = SuggestionRequest(
        project=assignment.round.project, layer="extraction", pipeline="p", pipeline_version="1"
    )
    suggested = [label(n, messages, SUGGESTIONS) for n in range(SUGGESTIONS)]
    suggestion_requests.store(asked, assignment.conversation, suggested)
    suggestions.declare_first_pass(assignment)
    for n in range(COMMENTS):
        comment(assignment, n, messages, drawn[n % labels]["uid"])


def label(number: int, messages: int, labels: int) -> dict[str, Any]:
    first = number * messages // labels
    return {
        "uid": f"label-{number:04}",
        "id": f"REQ-{number + 1:03}",
        "title": f"Order tracking, part {number}",
        "type": "functional",
        "actor": "Customer",
        "action": f"Track the order number {number} on one page",
        "condition": None,
        "acceptance_criteria": ["The page shows the status", "The page shows the history"],
        "priority": "must",
        "source_messages": sorted({first, min(first + 1, messages - 1), (first * 7) % messages}),
        "rationale": f"Asked for in message {first}",
        "confidence": 0.9,
    }


def comment(assignment: Any, n: int, messages: int, uid: str) -> None:
    from labeling.services import comments

    pin = comments.Pin(message_index=n * 7 % messages) if n % 2 else comments.Pin(label_uid=uid)
    comments.post(
        comments.place_of(assignment),
        body=f"Is this one meant? ({n})",
        author=assignment.annotator,
        pin=pin,
    )


# The measuring


def measure_opening(context: Any, url: str) -> None:
    waits, works = [], []
    for _ in range(5):
        page = context.new_page()
        developer = watched(page)
        started = time.perf_counter()
        page.goto(url, wait_until="commit")
        page.wait_for_selector(READY)
        page.evaluate(TWO_FRAMES)
        waits.append(1000 * (time.perf_counter() - started))
        works.append(milliseconds(developer))
        page.close()
    first, *others = waits
    print(
        f"opening the page: {first:.0f} ms at first, then median {statistics.median(others):.0f} ms"
        f" until it can be used, of it {statistics.median(works[1:]):.0f} ms of work"
    )


def measure(context: Any, url: str, name: str, times: int) -> float:
    page = context.new_page()
    developer = watched(page)
    page.goto(url)
    page.wait_for_selector(READY)
    if name == "busy":
        show_everything(page)
    page.wait_for_timeout(500)
    print(f"\n{name:<34}{'median':>9}{'95 %':>9}{'longest':>9}")
    slowest = 0.0
    for title, begin, act in ACTIONS:
        begin(page)
        page.evaluate(TWO_FRAMES)
        spent = sorted(cost(page, developer, act, n) for n in range(times))
        middle, high = statistics.median(spent), spent[int(0.95 * len(spent))]
        slowest = max(slowest, high)
        print(f"  {title:<32}{middle:>6.1f} ms{high:>6.1f} ms{spent[-1]:>6.1f} ms")
    return slowest


def show_everything(page: Any) -> None:
    page.wait_for_selector(".suggestion")
    page.wait_for_selector(".comment-count", state="attached")
    press(page, "/")
    page.keyboard.type("order")
    page.locator(".message-text").nth(2).click()


def watched(page: Any) -> Any:
    developer = page.context.new_cdp_session(page)
    developer.send("Performance.enable", {"timeDomain": "threadTicks"})
    return developer


def cost(page: Any, developer: Any, act: Callable[[Any, int], None], n: int) -> float:
    before = milliseconds(developer)
    act(page, n)
    page.evaluate(TWO_FRAMES)
    return milliseconds(developer) - before


def milliseconds(developer: Any) -> float:
    metrics = developer.send("Performance.getMetrics")["metrics"]
    return 1000 * float(
        next(metric["value"] for metric in metrics if metric["name"] == "TaskDuration")
    )


def press(page: Any, *keys: str) -> None:
    for key in keys:
        page.keyboard.press(key)


def at(selector: str) -> Callable[[Any], None]:
    return lambda page: page.locator(selector).first.hover()


def wheel(page: Any, n: int) -> None:
    page.mouse.wheel(0, 400 if n % 30 < 15 else -400)


def point(page: Any, n: int) -> None:
    page.mouse.move(600 + n % 2, 200 + 23 * (n % 20))


def keys_of(*keys: str) -> Callable[[Any], None]:
    return lambda page: press(page, *keys)


def key(*choices: str) -> Callable[[Any, int], None]:
    return lambda page, n: press(page, choices[n % len(choices)])


ACTIONS: list[tuple[str, Callable[[Any], None], Callable[[Any, int], None]]] = [
    ("nothing", keys_of("Escape"), lambda page, n: None),
    ("next message (j)", keys_of("Escape"), key("j")),
    ("previous message (k)", keys_of("Escape"), key("k")),
    ("point at a message", at(".message[aria-current]"), point),
    ("scroll the conversation", at(".message[aria-current]"), wheel),
    ("scroll the labels", at(".label-head"), wheel),
    ("open and close a label", keys_of("Escape", "Escape"), key("e", "Escape", "Escape")),
    ("next label, open", keys_of("Escape", "Escape", "e", "Escape"), key("Shift+J")),
    ("a letter in the title", keys_of("t", "End"), key("a", "b", " ")),
    ("a letter in a list", keys_of("Tab", "Tab"), key("a", "b", " ")),
    ("next message while typing", keys_of("t"), key("Alt+ArrowDown")),
    ("link a message", keys_of("Escape", "j"), key("m")),
    ("next message, label open", keys_of("Escape"), key("j")),
    ("duplicate a label", keys_of("Escape"), key("d")),
    ("undo", keys_of("Escape"), key("Control+z")),
    ("search, letter by letter", keys_of("/"), key("o", "r", "d", "Backspace")),
]


if __name__ == "__main__":
    sizes = [int(argument) for argument in sys.argv[1:]]
    sys.exit(main(*[*sizes, *(500, 60, 40)[len(sizes) :]]))
