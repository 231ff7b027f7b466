"""Many annotators at once: whether every place is filled exactly once, and how quickly.

    .venv/bin/python benchmarks/distribution.py [CLIENTS] [CONVERSATIONS] [OVERLAP]

Starts the web server on a database of its own (SQLite in a temporary folder, or the empty database
that DATABASE_URL names) and lets that many signed-in clients take and submit over HTTP until
nothing is left. Then every conversation must have exactly OVERLAP submissions by as many people.
"""

import http.client
import json
import statistics
import sys
import tempfile
import threading
import time
from collections import Counter
from typing import Any, NamedTuple

from product import label, session_of, settle, web_server

CSRF = "d" * 32
LAYER = "extraction"


class Call(NamedTuple):
    kind: str  # take or submit
    status: int
    seconds: float


class Annotator(threading.Thread):
    """One client: a session, a connection that stays open, take and submit until all is done."""

    def __init__(self, port: int, session: str) -> None:
        super().__init__()
        self.calls: list[Call] = []
        self.broken = ""
        self._http = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        self._headers = {
            "Content-Type": "application/json",
            "Cookie": f"sessionid={session}; csrftoken={CSRF}",
            "X-CSRFToken": CSRF,
        }

    def run(self) -> None:
        try:
            while (taken := self._post("take", "/api/queue/next/", {})["assignment"]) is not None:
                self._post("submit", f"/api/annotations/{taken}/submit/", answer(taken))
        except Exception as error:  # shown at the end; the other clients go on
            self.broken = repr(error)

    def _post(self, kind: str, path: str, body: dict[str, Any]) -> dict[str, Any]:
        started = time.perf_counter()
        self._http.request("POST", path, json.dumps(body), self._headers)
        response = self._http.getresponse()
        text = response.read()
        self.calls.append(Call(kind, response.status, time.perf_counter() - started))
        if response.status != 200:
            raise RuntimeError(f"{path}: {response.status} {text[:300]!r}")
        reply: dict[str, Any] = json.loads(text)
        return reply


def answer(assignment: int) -> dict[str, Any]:
    requirement = label(uid=f"label-{assignment}", id="REQ-001", title="Order Tracking")
    return {
        "base_version": 0,
        "client": f"00000000-0000-4000-8000-{assignment:012}",
        "seq": 1,
        "payload": {"requirements": [requirement]},
    }


def main(clients: int, conversations: int, overlap: int) -> int:
    with tempfile.TemporaryDirectory() as folder:
        settle(folder)
        sessions = prepare(clients, conversations, overlap)
        with web_server(folder) as port:
            annotators, seconds = work(sessions, port)
        report(annotators, seconds)
        return verify(annotators, conversations * overlap, overlap)


def prepare(clients: int, conversations: int, overlap: int) -> list[str]:
    """A pool round for ``clients`` annotators; their session keys."""
    from django.contrib.auth.models import User

    from labeling.models import Guideline, Membership, Project
    from labeling.services.work.rounds import open_round

    project = Project.objects.create(slug="crowd", name="Crowd", overlap=overlap)
    Guideline.objects.create(project=project, version=1, body="# Guide")
    people = [User.objects.create(username=f"annotator-{n:02}") for n in range(clients)]
    for user in people:
        Membership.objects.create(project=project, user=user, role="annotator")
    talks = _conversations(project, conversations)
    open_round(
        project=project, kind="full", by=None, conversations=talks, pool=True, override_reason="-"
    )
    return [session_of(user) for user in people]


def _conversations(project: Any, number: int) -> list[Any]:
    from labeling.models import Conversation, Message

    talks = Conversation.objects.bulk_create(
        Conversation(project=project, external_id=f"talk-{n:05}", content_sha256=f"{n:064}")
        for n in range(number)
    )
    Message.objects.bulk_create(
        Message(conversation=talk, index=index, role="user", content=f"We need order {index}.")
        for talk in talks
        for index in range(8)
    )
    return talks


def work(sessions: list[str], port: int) -> tuple[list[Annotator], float]:
    """All clients at once; the seconds until the last one is done."""
    annotators = [Annotator(port, session) for session in sessions]
    started = time.perf_counter()
    for annotator in annotators:
        annotator.start()
    for annotator in annotators:
        annotator.join()
    return annotators, time.perf_counter() - started


def report(annotators: list[Annotator], seconds: float) -> None:
    from django.db import connection

    calls = [call for annotator in annotators for call in annotator.calls]
    print(f"{connection.vendor}, {len(annotators)} clients, {seconds:.1f} s")
    for kind in ("take", "submit"):
        taken = sorted(call.seconds for call in calls if call.kind == kind)
        print(
            f"  {kind:<6} {len(taken):>6} calls  {len(taken) / seconds:6.1f}/s  "
            f"median {1000 * statistics.median(taken):5.0f} ms  "
            f"p95 {1000 * taken[int(0.95 * len(taken))]:5.0f} ms  max {1000 * taken[-1]:5.0f} ms"
        )
    print(f"  answers by status: {dict(Counter(call.status for call in calls))}")


def verify(annotators: list[Annotator], wanted: int, overlap: int) -> int:
    """0 when nothing is lost, doubled or refused."""
    from django.db.models import Count

    from labeling.models import Annotation, Round

    submitted = Annotation.objects.filter(status="submitted")
    rows = submitted.values_list("assignment__conversation").annotate(
        n=Count("pk"), people=Count("assignment__annotator", distinct=True)
    )
    exact = sum(row[1:] == (overlap, overlap) for row in rows)
    broken = [annotator.broken for annotator in annotators if annotator.broken]
    places = Round.objects.get().places.count()
    print(f"  {submitted.count()} of {wanted} submissions stored, {len(broken)} clients broke off")
    print(f"  {exact} of {places} conversations have exactly {overlap} by {overlap} people")
    for text in broken[:3]:
        print(f"  {text}")
    return int(submitted.count() != wanted or exact != places or bool(broken))


if __name__ == "__main__":
    sizes = [int(argument) for argument in sys.argv[1:]]
    sys.exit(main(*[*sizes, *(32, 2000, 3)[len(sizes) :]]))
