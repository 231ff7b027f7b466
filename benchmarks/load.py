"""Many annotators at once: how quickly they work, what it costs, and whether anything is lost.

    .venv/bin/python benchmarks/load.py [--clients 1 8 32] [--minutes M | --conversations N]
        [--overlap 3] [--autosaves 0] [--databases sqlite postgresql]

For each database it starts the web server and a worker as ``make serve`` does, with a database of
its own. For each number of clients it makes a project; the clients sign in and, over HTTP, take and
submit until nothing is left (N conversations), or for M minutes in a pool that does not run out.
Then it waits until the worker has caught up, and counts in the database: whether an accepted answer
is lost or doubled, and whether a conversation has more people than wanted or, of a pool that ran
out, fewer.

Milliseconds of the processor are user and system time of the server's processes, so what else the
machine does hardly counts; what the clients themselves cost is a separate line.
"""

from __future__ import annotations

import argparse
import http.client
import json
import os
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any, NamedTuple

import psutil
from product import ROOT, label, log_of, on_each_database, session_of, settle, talk, web_server

CSRF = "d" * 32
PER_SECOND = 150
"""Conversations made for each second of ``--minutes``, so that the pool does not run out."""
MOST_TO_DRAIN = 600
MOST_IN_ONE_IMPORT = 10_000
"""On SQLite."""


class Call(NamedTuple):
    kind: str  # next, save or submit
    status: int
    seconds: float


class Annotator(threading.Thread):
    """One client: a session, a connection that stays open, take and submit until all is done."""

    def __init__(self, port: int, session: str, end: float | None, autosaves: int) -> None:
        super().__init__()
        self.calls: list[Call] = []
        self.accepted: list[int] = []
        self.broken = ""
        self._end, self._autosaves = end, autosaves
        self._http = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        self._headers = {
            "Content-Type": "application/json",
            "Cookie": f"sessionid={session}; csrftoken={CSRF}",
            "X-CSRFToken": CSRF,
        }

    def run(self) -> None:
        try:
            while self._end is None or time.monotonic() < self._end:
                taken = self._call("next", "POST", "/api/queue/next/", {})["assignment"]
                if taken is None:
                    return
                self._label(taken)
        except Exception as error:  # shown at the end; the other clients go on
            self.broken = repr(error)

    def _label(self, taken: int) -> None:
        path = f"/api/annotations/{taken}/"
        for seq in range(1, self._autosaves + 1):
            self._call("save", "PUT", path, answer(taken, seq))
        self._call("submit", "POST", f"{path}submit/", answer(taken, self._autosaves + 1))
        self.accepted.append(taken)

    def _call(self, kind: str, method: str, path: str, body: dict[str, Any]) -> dict[str, Any]:
        started = time.perf_counter()
        self._http.request(method, path, json.dumps(body), self._headers)
        response = self._http.getresponse()
        text = response.read()
        self.calls.append(Call(kind, response.status, time.perf_counter() - started))
        if response.status != 200:
            raise RuntimeError(f"{path}: {response.status} {text[:300]!r}")
        reply: dict[str, Any] = json.loads(text)
        return reply


def answer(assignment: int, seq: int = 1) -> dict[str, Any]:
    requirement = label(uid=f"label-{assignment}", id="REQ-001", title="Order Tracking")
    return {
        "base_version": 0,
        "client": f"00000000-0000-4000-8000-{assignment:012}",
        "seq": seq,
        "payload": {"requirements": [requirement]},
    }


def measure(options: argparse.Namespace) -> int:
    with tempfile.TemporaryDirectory() as folder:
        settle(folder)
        from django.db import connection

        failed = 0
        with web_server(folder) as port, worker(folder) as work:
            web = web_processes()
            for clients in options.clients:
                project, sessions = prepare(clients, options)
                print(f"\n{connection.vendor}, {clients} clients, overlap {project.overlap}")
                before, own = cpu(web), time.process_time()
                before_work = cpu([work])
                annotators, seconds = run(sessions, port, options)
                own = time.process_time() - own
                spent = cpu(web) - before
                drained = drain(project)
                report(annotators, seconds, spent, cpu([work]) - before_work, own, drained)
                failed += verify(project, annotators, to_the_end=not options.minutes)
    return failed


@contextmanager
def worker(folder: str) -> Iterator[int]:
    from config.serve import SECONDS_TO_STOP, worker_command

    log = log_of("worker", folder)
    with log.open("wb") as output:
        process = subprocess.Popen(
            worker_command(),
            cwd=ROOT,
            env={**os.environ, "ASSAY_LOG_LEVEL": "INFO"},  # or it does not say that it is ready
            stdout=output,
            stderr=subprocess.STDOUT,
        )
    try:
        while "ready." not in log.read_text():
            if process.poll() is not None:
                sys.exit(f"The worker ended: {log.read_text()[-2000:]}")
            time.sleep(0.1)
        yield process.pid
    finally:
        process.terminate()
        try:
            process.wait(SECONDS_TO_STOP)
        except subprocess.TimeoutExpired:  # what it is at may take minutes, as for ``assay serve``
            process.kill()
            process.wait()


def web_processes() -> list[int]:
    """The children of this process that serve, by what they were started with."""
    return [
        each.pid for each in psutil.Process().children() if "gunicorn" in " ".join(each.cmdline())
    ]


def cpu(pids: list[int]) -> float:
    """Seconds of processor time of these processes, all below them and those that have ended."""
    total = 0.0
    for pid in pids:
        process = psutil.Process(pid)
        for each in (process, *process.children(recursive=True)):
            with suppress(psutil.NoSuchProcess):
                total += sum(each.cpu_times()[:4])  # own, and of children that were waited for
    return total


def prepare(clients: int, options: argparse.Namespace) -> tuple[Any, list[str]]:
    """A project with a pool for that many annotators; their session keys."""
    from django.contrib.auth.models import User

    from labeling.models import Guideline, Membership, Project
    from labeling.work.rounds import open_round

    number = int(options.minutes * 60 * PER_SECOND) or options.conversations
    slug = f"crowd-{clients}"
    project = Project.objects.create(slug=slug, name=slug, overlap=min(options.overlap, clients))
    Guideline.objects.create(project=project, version=1, body="# Guide")
    people = [User.objects.create(username=f"{slug}-{n:02}") for n in range(clients)]
    for user in people:
        Membership.objects.create(project=project, user=user, role="annotator")
    store(project, number)
    open_round(
        project=project,
        kind="full",
        by=None,
        conversations=project.conversations.all(),
        pool=True,
        override_reason="-",
    )
    return project, [session_of(user) for user in people]


def store(project: Any, number: int) -> None:
    from labeling.conversations.conversations import import_files

    for begin in range(0, number, MOST_IN_ONE_IMPORT):
        with tempfile.TemporaryFile() as file:
            for n in range(begin, min(begin + MOST_IN_ONE_IMPORT, number)):
                file.write(json.dumps(talk(f"{project.slug}-{n:06}")).encode() + b"\n")
            file.seek(0)
            import_files(project_slug=project.slug, files=[("talks.jsonl", file)])


def run(
    sessions: list[str], port: int, options: argparse.Namespace
) -> tuple[list[Annotator], float]:
    """All clients at once; the seconds until the last one is done."""
    started = time.monotonic()
    end = started + 60 * options.minutes if options.minutes else None
    annotators = [Annotator(port, session, end, options.autosaves) for session in sessions]
    for annotator in annotators:
        annotator.start()
    for annotator in annotators:
        annotator.join()
    return annotators, time.monotonic() - started


def drain(project: Any) -> float | None:
    """Seconds until the worker has nothing left to do; None if it did not get that far."""
    started = time.monotonic()
    while time.monotonic() - started < MOST_TO_DRAIN:
        if not project.pending_updates.exists():
            return time.monotonic() - started
        time.sleep(0.1)
    return None


def report(
    annotators: list[Annotator],
    seconds: float,
    web: float,
    work: float,
    own: float,
    drained: float | None,
) -> None:
    calls = [call for annotator in annotators for call in annotator.calls]
    turns = sum(len(annotator.accepted) for annotator in annotators)
    print(f"  {turns} turns in {seconds:.1f} s: {turns / seconds:.1f} turns/s")
    for kind in ("next", "save", "submit"):
        took = sorted(1000 * call.seconds for call in calls if call.kind == kind)
        if took:
            at = {share: took[int(share * len(took))] for share in (0.95, 0.99)}
            print(
                f"  {kind:<6} {len(took):>6} calls {len(took) / seconds:7.1f}/s   p50"
                f" {statistics.median(took):6.1f} ms   p95 {at[0.95]:6.1f} ms   p99"
                f" {at[0.99]:6.1f} ms   longest {took[-1]:6.1f} ms"
            )
    print(
        f"  CPU: web {1000 * web / max(1, len(calls)):.2f} ms a request, worker"
        f" {1000 * work / max(1, turns):.2f} ms a turn; the clients themselves"
        f" {1000 * own / max(1, len(calls)):.2f} ms a request"
    )
    left = "NOT DONE" if drained is None else f"{drained:.1f} s later"
    print(f"  the worker had merged everything {left}")


def verify(project: Any, annotators: list[Annotator], *, to_the_end: bool) -> int:
    """0 when nothing is lost, doubled or refused."""
    from django.db.models import Count

    from labeling.models import Annotation, AnnotationRevision

    stored = Annotation.objects.filter(status="submitted", assignment__round__project=project)
    accepted = [pk for annotator in annotators for pk in annotator.accepted]
    lost = len(set(accepted) - set(stored.values_list("assignment", flat=True)))
    revisions = AnnotationRevision.objects.filter(annotation__in=stored, kind="submitted").count()
    by_conversation = list(
        stored.values_list("assignment__conversation").annotate(
            n=Count("pk"), people=Count("assignment__annotator", distinct=True)
        )
    )
    many = sum(n > project.overlap for _, n, _ in by_conversation)
    twice = sum(n != people for _, n, people in by_conversation)
    exact = sum((n, people) == (project.overlap,) * 2 for _, n, people in by_conversation)
    wanted, broken = project.conversations.count(), [a.broken for a in annotators if a.broken]
    print(
        f"  {len(accepted)} accepted, {stored.count()} stored with {revisions} revisions:"
        f" {lost} lost, {len(accepted) - len(set(accepted))} doubled;"
        f" {len(broken)} clients broke off"
    )
    print(
        f"  {exact} of {wanted} conversations have exactly {project.overlap} people,"
        f" {many} have more, {twice} the same one twice"
    )
    for text in broken[:3]:
        print(f"  {text}")
    merged = project.conversations.filter(merges__isnull=False).distinct().count()
    print(f"  {merged} of these {exact} merged")
    unfinished = to_the_end and exact != wanted
    differs = stored.count() != len(accepted) or revisions != len(accepted) or merged != exact
    return int(bool(lost or many or twice or broken or unfinished or differs))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--clients", type=int, nargs="+", default=[1, 8, 32])
    parser.add_argument("--minutes", type=float, default=0.0)
    parser.add_argument("--conversations", type=int, default=1000)
    parser.add_argument("--overlap", type=int, default=3)
    parser.add_argument("--autosaves", type=int, default=0)
    parser.add_argument("--databases", nargs="+", default=["sqlite", "postgresql"])
    parser.add_argument("--only", help=argparse.SUPPRESS)
    sys.exit(on_each_database(__file__, parser.parse_args(), measure))
