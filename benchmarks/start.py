"""How long a first start takes, and how much memory the product needs, idle and after use.

    .venv/bin/python benchmarks/start.py [ROUNDS] [--demo-only | --empty-only]

Starts what ``make serve`` starts on an empty data folder, once without and once with the demo, and
waits for the first answered page. CPU is user and system time of all its processes, those that have
ended included. RSS counts what processes share in each of them, PSS once in all. "After use": six
hundred requests of the demo's people (pages, autosaves, submissions), and what the worker did then.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from http.cookiejar import CookieJar
from pathlib import Path
from urllib.parse import urlencode

import psutil
from product import ROOT, free_port

TICKS = os.sysconf("SC_CLK_TCK")
MB = 1024  # kB, as /proc has it
QUIET_SECONDS = 4
TIMES = 40
PAGES = ("/", "/projects/demo/", "/projects/demo/progress/", "/projects/demo/conversations/")
LEAD_PAGES = (
    "/projects/demo/gold/",
    "/projects/demo/adjudication/",
    "/projects/demo/rounds/1/agreement/",
    "/runs/",
    "/docs/metrics/",
    "/api/projects/",
)


def main(arguments: list[str]) -> None:
    rounds = int(next((each for each in arguments if each.isdigit()), "1"))
    demos = [True] if "--demo-only" in arguments else [False, True]
    demos = [False] if "--empty-only" in arguments else demos
    for _ in range(rounds):
        for demo in demos:
            measure(demo)


def measure(demo: bool) -> None:
    with tempfile.TemporaryDirectory() as folder, served(folder, demo) as (server, url, started):
        seconds = time.monotonic() - started
        what = "with the demo" if demo else "without demo"
        print(f"first page {what}: {seconds:.1f} s, CPU {cpu(server):.1f} s", flush=True)
        if demo:
            wait_until_quiet(server)
        else:
            time.sleep(QUIET_SECONDS)
        show("idle", server)
        if demo:
            use(url)
            time.sleep(1)
            wait_until_quiet(server)
            show("after use", server)


@contextmanager
def served(folder: str, demo: bool) -> Iterator[tuple[psutil.Process, str, float]]:
    """The running product, its address, and when it was started."""
    port, log = free_port(), Path(folder) / "serve.log"
    own = {
        "ASSAY_DATA_DIR": str(Path(folder) / "data"),
        "ASSAY_DEMO": str(demo).lower(),
        "ASSAY_ENV_FILE": os.devnull,
        "ASSAY_PORT": str(port),
    }
    url = f"http://127.0.0.1:{port}"
    started = time.monotonic()
    with log.open("wb") as output:
        process = subprocess.Popen(
            [sys.executable, "-m", "config.command", "serve"],
            cwd=ROOT,
            env={**os.environ, **own},
            stdout=output,
            stderr=output,
        )
    try:
        while not is_answered(f"{url}/sign-in/"):
            if process.poll() is not None:
                sys.exit(log.read_text())
            time.sleep(0.02)
        yield psutil.Process(process.pid), url, started
    finally:
        process.terminate()
        process.wait()


def is_answered(url: str) -> bool:
    try:
        with urllib.request.urlopen(url, timeout=10) as reply:
            return bool(reply.status == 200)
    except OSError:
        return False


def family(server: psutil.Process) -> list[psutil.Process]:
    return [server, *server.children(recursive=True)]


def cpu(server: psutil.Process) -> float:
    """Seconds of all its processes; those that ended are counted by those that started them."""
    total = 0
    for process in family(server):
        fields = Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()
        total += sum(int(field) for field in fields[11:15])
    return total / TICKS


def wait_until_quiet(server: psutil.Process) -> None:
    """The worker has done what the demo or the requests asked for."""
    quiet_since, last = time.monotonic(), cpu(server)
    while time.monotonic() - quiet_since < QUIET_SECONDS:
        time.sleep(0.5)
        now = cpu(server)
        if now - last > 0.1:
            quiet_since = time.monotonic()
        last = now


def show(when: str, server: psutil.Process) -> None:
    rows = [(process, *memory(process)) for process in family(server)]
    rss, pss = (sum(row[column] for row in rows) for column in (1, 2))
    print(f"{when}: {len(rows)} processes, RSS {rss / MB:.0f} MB, PSS {pss / MB:.0f} MB")
    for process, own_rss, own_pss in rows:
        command = re.sub(r"\S+/", "", " ".join(process.cmdline()))[:60]
        print(f"  {process.name():<16} {own_rss / MB:5.0f} {own_pss / MB:5.0f}  {command}")
    sys.stdout.flush()


def memory(process: psutil.Process) -> tuple[int, int]:
    """RSS and PSS in kB."""
    text = Path(f"/proc/{process.pid}/smaps_rollup").read_text()
    rss, pss = (int(re.search(rf"^{name}:\s+(\d+)", text, re.M)[1]) for name in ("Rss", "Pss"))  # type: ignore[index]
    return rss, pss


class Person:
    """A signed-in browser without a screen."""

    def __init__(self, url: str, name: str) -> None:
        self.url = url
        self.cookies = CookieJar()
        self.opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(self.cookies))
        self.ask("/sign-in/")
        form = {"username": name, "password": f"gold-{name}", "csrfmiddlewaretoken": self.token()}
        self.ask("/sign-in/", urlencode(form).encode(), "application/x-www-form-urlencoded")

    def token(self) -> str:
        return next((each.value or "" for each in self.cookies if each.name == "csrftoken"), "")

    def ask(
        self, path: str, data: bytes | None = None, kind: str = "application/json", method: str = ""
    ) -> bytes:
        headers = {"Content-Type": kind, "X-CSRFToken": self.token(), "Referer": self.url}
        request = urllib.request.Request(self.url + path, data, headers, method=method or None)
        try:
            with self.opener.open(request, timeout=120) as reply:
                return bytes(reply.read())
        except urllib.error.HTTPError as error:
            raise SystemExit(f"{path}: {error.code} {error.read()[:500]!r}") from error


def use(url: str) -> None:
    annotators = [Person(url, name) for name in ("ana", "ben", "cleo")]
    lead, researcher = Person(url, "rita"), Person(url, "noor")
    answers = 0
    for turn in range(TIMES):
        for person in annotators:
            answers += label(person, turn)
            person.ask(PAGES[0])
        for path in (*PAGES, LEAD_PAGES[turn % len(LEAD_PAGES)]):
            lead.ask(path)
        researcher.ask(LEAD_PAGES[3])
    print(f"used: {TIMES} rounds of 5 people, {answers} answers submitted")


def label(person: Person, turn: int) -> int:
    """Open the next conversation, save three drafts and submit; 0: nothing is left to label."""
    pk = json.loads(person.ask("/api/queue/next/", b"{}"))["assignment"]
    if pk is None:
        for _ in range(3):
            person.ask("/api/queue/")
        return 0
    page, client = f"/api/annotations/{pk}/", str(uuid.uuid4())
    person.ask(f"/label/{pk}/")
    version = json.loads(person.ask(page))["version"]
    save = {"client": client, "payload": {}, "empty": True, "active_seconds": turn}
    for seq in (1, 2, 3):
        body = json.dumps({**save, "base_version": version, "seq": seq}).encode()
        version = json.loads(person.ask(page, body, method="PUT"))["version"]
    body = json.dumps({**save, "base_version": version, "seq": 4}).encode()
    person.ask(f"{page}submit/", body)
    return 1


if __name__ == "__main__":
    main(sys.argv[1:])
