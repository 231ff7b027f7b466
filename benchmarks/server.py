"""A team at work on a real server, whose parts are stopped meanwhile: who felt what, what was lost?

    DATABASE_URL=… ASSAY_ENV_FILE=/etc/assay/assay.env .venv/bin/python benchmarks/server.py \
        --address https://assay.example.org --connect 127.0.0.1 --ca fullchain.pem \
        --at 60 worker 'kill -9 …' --at 120 redis 'systemctl stop redis-server; sleep 10; …'

The server runs already (docs/deploying.md), on an empty database, with LLM_MODEL=local and
LLM_BASE_URL=http://127.0.0.1:8900/v1: there this program answers as a model that takes its time.

People label a pool by way of the proxy, as fast as ``--pause`` lets them, and do what a workspace
does when a request fails: send it again. A run of an evaluation is under way. Each ``--at`` is a
second, a name and a command of the shell. In the end the database is counted; 1 unless everything
that was accepted is stored once, nothing else is, and each case of the run was done once.
"""

from __future__ import annotations

import argparse
import http.client
import json
import random
import socket
import ssl
import statistics
import subprocess
import sys
import threading
import time
from collections import Counter
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit
from uuid import UUID

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.engine import Model
from benchmarks.labelling import CSRF, answer, drain, open_pool, store
from benchmarks.product import session_of

AGAIN_AFTER = 0.5  # seconds
NOTHING = '{"requirements": [], "changes": []}'
GOLD = 60
"""Items that the run is measured on, each several times."""


class Call(NamedTuple):
    begun: float
    ended: float


class Failure(NamedTuple):
    at: float
    kind: str


class Connection(http.client.HTTPSConnection):
    """To a name, at an address that no name server knows."""

    def __init__(self, name: str, port: int, address: str, ca: str) -> None:
        super().__init__(name, port, timeout=30, context=ssl.create_default_context(cafile=ca))
        self._address = address

    def connect(self) -> None:
        plain = socket.create_connection((self._address, self.port), self.timeout)
        self.sock = self._context.wrap_socket(plain, server_hostname=self.host)  # type: ignore[attr-defined]


class Person(threading.Thread):
    def __init__(self, asked: argparse.Namespace, session: str, over: float) -> None:
        super().__init__(daemon=True)
        self.calls: list[Call] = []
        self.failures: list[Failure] = []
        self.accepted: list[int] = []
        self.refused: Counter[str] = Counter()
        self._over, self._pause = over, asked.pause
        parts = urlsplit(asked.address)
        name, port = parts.hostname or "", parts.port or 443
        self._http = Connection(name, port, asked.connect or name, asked.ca)
        self._headers = {
            "Content-Type": "application/json",
            "Cookie": f"sessionid={session}; csrftoken={CSRF}",
            "X-CSRFToken": CSRF,
            "Origin": asked.address,
            "Referer": f"{asked.address}/",
        }

    def run(self) -> None:
        while time.time() < self._over:
            taken = self._call("POST", "/api/queue/next/", {})
            if not taken or taken["assignment"] is None:
                continue
            pk = taken["assignment"]
            path = f"/api/annotations/{pk}/"
            time.sleep(random.uniform(0, self._pause))
            self._call("PUT", path, answer(pk, 1))
            time.sleep(random.uniform(0, self._pause))
            if self._call("POST", f"{path}submit/", answer(pk, 2)) is not None:
                self.accepted.append(pk)

    def _call(self, method: str, path: str, body: dict[str, Any]) -> Any:
        """The reply, after as many tries as it takes; None where it was refused."""
        begun = time.time()
        while True:
            try:
                self._http.request(method, path, json.dumps(body), self._headers)
                response = self._http.getresponse()
                status, text = response.status, response.read()
            except (OSError, http.client.HTTPException) as error:
                self._http.close()
                status, text = 0, type(error).__name__.encode()
            if status == 200:
                self.calls.append(Call(begun, time.time()))
                return json.loads(text)
            if 400 <= status < 500:
                self.refused[f"{status} {text[:200]!r}"] += 1
                return None
            self.failures.append(Failure(time.time(), str(status or text.decode())))
            time.sleep(AGAIN_AFTER)


class Event(threading.Thread):
    """Something that is done to the server at a second of the day."""

    def __init__(self, second: str, name: str, command: str) -> None:
        super().__init__(daemon=True)
        self.second, self.name, self.command = float(second), name, command
        self.begun = self.ended = 0.0
        self.status: int | None = None

    def run(self) -> None:
        time.sleep(self.second)
        self.begun = time.time()
        self.status = subprocess.call(self.command, shell=True)
        self.ended = time.time()


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--address", required=True)
    parser.add_argument("--connect", default="", help="address of the machine; default: its name's")
    parser.add_argument("--ca", help="file of the certificate, if it is self-signed")
    parser.add_argument("--clients", type=int, default=20)
    parser.add_argument("--minutes", type=float, default=5)
    parser.add_argument("--pause", type=float, default=2, help="most seconds before each save")
    parser.add_argument("--conversations", type=int, default=4000)
    parser.add_argument("--repetitions", type=int, default=10)
    parser.add_argument("--seconds", type=float, default=2, help="that the model takes")
    parser.add_argument("--model-port", type=int, default=8900)
    parser.add_argument("--at", nargs=3, action="append", default=[])
    asked = parser.parse_args()
    import django

    django.setup()
    from django.db import connections

    model = Model(asked.seconds, asked.model_port, NOTHING)
    threading.Thread(target=model.serve_forever, daemon=True).start()
    project, people, release = prepare(asked)
    over = time.time() + 60 * asked.minutes
    team = [Person(asked, session_of(user), over) for user in people]
    run = launch(release, asked.repetitions)
    events = [Event(*each) for each in sorted(asked.at, key=lambda each: float(each[0]))]
    for thread in (*team, *events):
        thread.start()
    for thread in (*team, *events):
        thread.join()
    connections.close_all()  # they may be of a database that was stopped meanwhile
    drained = drain(project)
    wait_for_score(run)
    print(f"the model was asked {model.asked.total()} times")
    return report(project, team, events, run, drained)


def prepare(asked: argparse.Namespace) -> tuple[Any, list[Any], Any]:
    from django.contrib.auth.models import User

    from labeling.models import Guideline, Membership, Project
    from labeling.services.gold import gold
    from labeling.services.vectors import ruler
    from labeling.services.work import annotations, assignments

    def make(slug: str, conversations: int) -> Any:
        project = Project.objects.create(slug=slug, name=slug, overlap=2)
        Guideline.objects.create(project=project, version=1, body="# Guide")
        for user in people:
            Membership.objects.create(project=project, user=user, role="annotator")
        store(project, conversations)
        open_pool(project)
        return project

    people = [User.objects.create(username=f"person-{n:02}") for n in range(asked.clients)]
    small = make("gold", GOLD)
    for user in people[:2]:
        while assignment := assignments.take(user):
            sent = answer(assignment.pk)
            sent["client"] = UUID(sent["client"])
            annotations.submit(assignment, annotations.Save(**sent))
    drain(small)
    release = gold.freeze(project=small, layer="extraction", ruler=ruler())
    return make("trial", asked.conversations), people, release


def launch(release: Any, repetitions: int) -> Any:
    from evaluation.services.launch import launch as launching

    request = launching.LaunchRequest(
        release=release, pipeline="requirements-model", repetitions=repetitions, concurrency=4
    )
    return launching.launch(request)


def wait_for_score(run: Any) -> None:
    end = time.monotonic() + 600
    while run.scored_at is None and time.monotonic() < end:
        time.sleep(1)
        run.refresh_from_db()


def report(
    project: Any,
    team: list[Person],
    events: list[Event],
    run: Any,
    drained: float | None,
) -> int:
    calls = sorted(call for person in team for call in person.calls)
    failures = [failure for person in team for failure in person.failures]
    took = sorted(1000 * (call.ended - call.begun) for call in calls)
    finished = sorted(
        at.timestamp() for at in run.cases.values_list("finished_at", flat=True) if at
    )
    begun = calls[0].begun
    print(
        f"{len(team)} people, {len(calls)} requests answered, {len(failures)} failed, "
        f"sent again; ms: median {statistics.median(took):.0f}, "
        f"95 % {took[len(took) * 95 // 100]:.0f}, "
        f"longest {took[-1]:.0f}"
    )
    edges = [begun, *(event.begun for event in events), float("inf")]
    for name, (start, end), event in zip(
        ["before", *(event.name for event in events)],
        pairwise(edges),
        [None, *events],
        strict=True,
    ):
        show(name, start, end, event, team, finished)
    print(
        f"run: {run.cases.count()} cases, "
        f"{dict(Counter(run.cases.values_list('state', flat=True)))}, "
        f"{sum(run.cases.values_list('attempts', flat=True))} attempts, scored: "
        f"{run.scored_at is not None}; seconds until all answers were merged: {drained}"
    )
    return count(project, team, run)


def show(
    name: str, start: float, end: float, event: Event | None, team: list[Person], cases: list[float]
) -> None:
    """What people felt from then on until the next event, and when all of them went on."""
    kinds = Counter(
        failure.kind for person in team for failure in person.failures if start <= failure.at < end
    )
    waits = [c.ended - c.begun for p in team for c in p.calls if start <= c.ended < end]
    inside = [at for at in cases if start - 10 <= at < end + 10]
    gap = max((later - earlier for earlier, later in pairwise(inside)), default=0.0)
    says = f"{name}: errors {dict(kinds) or 'none'}, longest wait {max(waits, default=0):.1f} s"
    says += f", longest pause between cases {gap:.1f} s"
    if event is not None:
        says += f"; took {event.ended - event.begun:.1f} s (exit {event.status})"
        firsts = [
            min((c.ended for c in p.calls if c.ended > event.ended), default=event.ended)
            for p in team
        ]
        says += f"; all people went on {max(firsts) - event.ended:.1f} s after it"
        later = [at for at in cases if at > event.ended]
        says += f", the run {later[0] - event.ended:.1f} s" if later else ", the run had ended"
    print(says)


def count(project: Any, team: list[Person], run: Any) -> int:
    from django.db.models import Count

    from labeling.models import Annotation, AnnotationRevision, Assignment

    accepted = Counter(pk for person in team for pk in person.accepted)
    stored = Annotation.with_checks.filter(status="submitted", assignment__round__project=project)
    kept = set(stored.values_list("assignment", flat=True))
    revisions = AnnotationRevision.objects.filter(annotation__in=stored, kind="submitted").count()
    places = Assignment.objects.filter(round__project=project, annotation__status="submitted")
    crowded = places.values("conversation").annotate(n=Count("pk")).filter(n__gt=project.overlap)
    refused: Counter[str] = sum((person.refused for person in team), Counter())
    counts = {
        "accepted, but not stored": len(set(accepted) - kept),
        "stored, but not accepted": len(kept - set(accepted)),
        "accepted twice": sum(n > 1 for n in accepted.values()),
        "submissions without their one revision": abs(revisions - len(kept)),
        "conversations with more people than wanted": crowded.count(),
        "refused": refused.total(),
        "cases not done": run.cases.exclude(state="done").count(),
        "answers not merged": project.pending_updates.count(),
    }
    print(f"{len(accepted)} answers accepted; " + ", ".join(f"{k}: {n}" for k, n in counts.items()))
    for text, n in refused.most_common(5):
        print(f"  refused {n} times: {text}")
    return int(any(counts.values()))


if __name__ == "__main__":
    sys.exit(main())
