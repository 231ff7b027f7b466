"""A team's day: people join, leave and hand over, rounds close and gold is frozen while all label.

    .venv/bin/python benchmarks/team.py [--clients 32] [--conversations 2000] [--overlap 3]
        [--databases sqlite postgresql]

For each database it starts the web server and a worker as ``make serve`` does. Some people pass a
calibration round, and the lead lets the others in. Then the clients label a pool over HTTP, by
autosaves and submissions, while a lead (over HTTP, too) removes members and takes them back, moves
open work, adds newcomers, of whom some calibrate and some are let in, closes other rounds, and asks
for gold. Each action comes after a number of answers, so that a slow machine sees the same day as a
fast one.

Then it counts in the database, and ends with 1 unless each conversation of the pool has exactly as
many people as wanted, everything that was accepted is stored once, nothing else is, nothing was
accepted that somebody sent who had been removed, no request got an answer that it should not, and
gold was frozen at least twice (``--releases``) while people worked. Then it keeps what the servers
and the worker reported, and says where.

Somebody is removed from when the lead's request is answered, for only then it is certain that the
removal is stored, until the lead asks for them back. What was sent before may be stored later, and
what is answered after that may have waited until they were back.
"""

from __future__ import annotations

import argparse
import http.client
import json
import random
import sys
import tempfile
import threading
import time
from collections import Counter
from math import inf
from typing import Any
from urllib.parse import urlencode

from labelling import CSRF, answer, drain, store, worker
from product import on_each_database, session_of, settle, web_server

REFUSALS = {"not_an_annotator", "not_calibrated", "place_taken", "round_closed"}
"""What a client may be told in the course of such a day."""

EVERY = 40
"""Answers between two actions of the lead."""

STALLED = 120
SIDE = 100
"""Conversations of each round that is closed before it is done."""

CALIBRATED = 4
"""People in the calibration round; the others are let in by the lead."""


class Browser:
    """A connection that stays open, with a session."""

    def __init__(self, port: int, session: str) -> None:
        self._http = http.client.HTTPConnection("127.0.0.1", port, timeout=120)
        cookie = f"sessionid={session}; csrftoken={CSRF}"
        self._headers = {"Cookie": cookie, "X-CSRFToken": CSRF}

    def send(self, method: str, path: str, body: dict[str, Any]) -> tuple[int, Any]:
        text, kind = json.dumps(body), "application/json"
        return self._request(method, path, text, kind)

    def post(self, path: str, **form: Any) -> int:
        return self._request("POST", path, urlencode(form), "application/x-www-form-urlencoded")[0]

    def _request(self, method: str, path: str, body: str, kind: str) -> tuple[int, Any]:
        self._http.request(method, path, body, {**self._headers, "Content-Type": kind})
        response = self._http.getresponse()
        text = response.read()
        if kind != "application/json":
            self._http.close()  # the server would, before the lead does the next thing
        return response.status, json.loads(text) if text[:1] in (b"{", b"[") else None


class Client(threading.Thread):
    """One annotator at work until the day is over, member or not."""

    def __init__(
        self, port: int, user: Any, slug: str, over: threading.Event, *, calibrates: bool = False
    ) -> None:
        super().__init__(daemon=True)
        self.user, self.slug, self.calibrates = user, slug, calibrates
        self.accepted: list[int] = []
        self.stored: list[tuple[float, float]] = []  # when what was accepted was sent and answered
        self.told: Counter[str] = Counter()
        self.errors: list[str] = []
        self.took: list[float] = []
        self._browser, self._over = Browser(port, session_of(user)), over

    def run(self) -> None:
        try:
            while not self._over.is_set():
                if not self._turn():
                    time.sleep(0.2)  # nothing is free now; somebody may give something back
        except Exception as error:  # shown at the end; the other clients go on
            self.errors.append(repr(error))

    def _turn(self) -> bool:
        reply = self._call("POST", "/api/queue/next/", {})
        if reply is None:
            if self.calibrates and self.told["not_calibrated"] == 1:
                self._browser.post(f"/projects/{self.slug}/calibrate/")
            return False
        if reply["assignment"] is None:
            return False
        pk = reply["assignment"]
        path = f"/api/annotations/{pk}/"
        if self._call("PUT", path, answer(pk, 1)) is None:
            return False
        if self._call("POST", f"{path}submit/", answer(pk, 2)) is not None:
            self.accepted.append(pk)
        return True

    def _call(self, method: str, path: str, body: dict[str, Any]) -> Any:
        """The reply; None where the request was refused as it should be."""
        started = time.perf_counter()
        status, reply = self._browser.send(method, path, body)
        answered = time.perf_counter()
        self.took.append(answered - started)
        if status == 200:
            if path.startswith("/api/annotations/"):
                self.stored.append((started, answered))
            return reply
        code = (reply or {}).get("code", "")
        if code in REFUSALS:
            self.told[code] += 1
        else:
            self.errors.append(f"{method} {path}: {status} {reply}")
        return None


class Day:
    """The project, its people, and what the lead does."""

    def __init__(self, options: argparse.Namespace, port: int) -> None:
        from django.contrib.auth.models import User

        from labeling.models import Guideline, Membership, Project

        self.options, self.port, self.random = options, port, random.Random(17)
        self.project = Project.objects.create(slug="team", name="Team", overlap=options.overlap)
        Guideline.objects.create(project=self.project, version=1, body="# Guide")
        lead = User.objects.create(username="lead")
        Membership.objects.create(project=self.project, user=lead, role="lead")
        self.lead, self.lead_user = Browser(port, session_of(lead)), lead
        self.people = [User.objects.create(username=f"p{n:02}") for n in range(options.clients)]
        Membership.objects.bulk_create(
            Membership(project=self.project, user=user, role="annotator") for user in self.people
        )
        self.over = threading.Event()
        self.clients = [Client(port, user, "team", self.over) for user in self.people]
        self.away: dict[Any, float] = {}
        self.absences: list[tuple[Any, float, float]] = []
        self.done: Counter[str] = Counter()
        self.errors: list[str] = []
        self.connections = 0
        self.joined: dict[str, float] = {}
        self.in_after: dict[str, float] = {}

    # --- before the day ----------------------------------------------------------------------

    def prepare(self) -> None:
        from labeling.models import Round
        from labeling.services.quality import newcomers

        store(self.project, self.options.conversations + 2 * SIDE + 10)
        conversations = list(self.project.conversations.order_by("pk"))
        calibration = self._open("calibration", conversations[:10], self.people[:CALIBRATED])
        for assignment in calibration.assignments.all():
            self._submit(assignment)
        if drain(self.project) is None or not calibration.project.rounds.filter(
            state=Round.State.PASSED
        ):
            sys.exit("The calibration round did not pass.")
        first, second = conversations[10 : 10 + SIDE], conversations[10 + SIDE : 10 + 2 * SIDE]
        for user in self.people[CALIBRATED:]:
            newcomers.let_in(self.project, user, by=self.lead_user, reason="They labelled before.")
        self.side = [self._open("full", first), self._open("full", second)]  # taken from first
        self.pool = self._open("full", conversations[10 + 2 * SIDE :])

    def _open(self, kind: str, conversations: list[Any], people: Any = None) -> Any:
        from labeling.services.work.rounds import open_round

        return open_round(
            project=self.project,
            kind=kind,
            by=self.lead_user,
            conversations=conversations,
            annotators=people,
            pool=kind == "full",
        )

    def _submit(self, assignment: Any) -> None:
        from uuid import UUID

        from labeling.services.work import annotations

        sent = answer(assignment.pk)
        sent["client"] = UUID(sent["client"])
        annotations.submit(assignment, annotations.Save(**sent))

    # --- the day -----------------------------------------------------------------------------

    def run(self) -> float:
        from django.utils import timezone

        started = time.monotonic()
        for client in self.clients:
            client.start()
        wanted, last, moved = self.options.conversations * self.options.overlap, 0, started
        actions = self.actions()
        while self._answered(self.pool) < wanted:
            answered = self._answered(*self.side, self.pool)
            if answered >= last + EVERY:
                last, moved = answered, time.monotonic()
                next(actions)()
            elif time.monotonic() - moved > STALLED:
                self.errors.append(f"nothing moves any more at {answered} of {wanted} answers")
                break
            self._look()
            time.sleep(0.1)
        seconds = time.monotonic() - started
        self.ended = timezone.now()
        self.over.set()
        for client in self.clients:
            client.join()
        return seconds

    def _look(self) -> None:
        """Who is in by now, and how many connections PostgreSQL has."""
        from django.db import connection

        out = set(self._not_in())
        for name, joined in self.joined.items():
            if name not in out:
                self.in_after.setdefault(name, time.monotonic() - joined)
        if connection.vendor == "postgresql":
            with connection.cursor() as cursor:
                cursor.execute(
                    "SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend'"
                    " AND pid <> pg_backend_pid()"
                )
                self.connections = max(self.connections, cursor.fetchone()[0])

    def _answered(self, *rounds: Any) -> int:
        from labeling.models import Assignment

        done = Assignment.objects.filter(
            round__in=rounds, annotation__status__in=["submitted", "skipped"]
        )
        return int(done.count())

    def actions(self) -> Any:
        """Again and again; some of them only now and then."""
        turn = 0
        while True:
            turn += 1
            yield self.remove
            yield self.move
            if turn <= 2:
                yield self.close
            yield self.come_back
            yield self.remove
            yield self.come_back
            if turn <= 4:
                yield self.join
            if turn % 3 == 1:
                yield self.freeze

    def remove(self) -> None:
        """Now and then the open work goes to somebody in particular."""
        user = self.random.choice([user for user in self.people if user not in self.away])
        membership = user.memberships.get(project=self.project)
        to = {"to": self._other(user).pk} if self.done["remove"] % 4 == 3 else {}
        self._act("remove", f"members/{membership.pk}/remove/", **to)
        self.away[user] = time.perf_counter()

    def come_back(self) -> None:
        if self.away:
            user = next(iter(self.away))
            self.absences.append((user, self.away.pop(user), time.perf_counter()))
            self._act("come back", "members/add/", username=user.username, role="annotator")

    def move(self) -> None:
        user = self.random.choice([user for user in self.people if user not in self.away])
        self._act("move work", f"people/{user.pk}/move/", to=self._other(user).pk)

    def _other(self, user: Any) -> Any:
        here = [each for each in self.people if each not in self.away and each != user]
        return self.random.choice(here)

    def join(self) -> None:
        """A newcomer, who calibrates or is let in."""
        from django.contrib.auth.models import User

        calibrates = self.done["join"] % 2 == 0
        user = User.objects.create(username=f"new-{self.done['join']}")
        self._act("join", "members/add/", username=user.username, role="annotator")
        self.joined[user.username] = time.monotonic()
        client = Client(self.port, user, "team", self.over, calibrates=calibrates)
        if not calibrates:
            self._act("let in", f"people/{user.pk}/let-in/", reason="Labelled for us before.")
        self.clients.append(client)
        client.start()

    def close(self) -> None:
        self._act("close a round", f"rounds/{self.side[self.done['close a round']].number}/close/")

    def freeze(self) -> None:
        from labeling.services.gold.gold_requests import request_freeze

        asked = request_freeze(project=self.project, layer="extraction", by=self.lead_user)
        self.done["join a freeze" if asked.joined else "ask for gold"] += 1

    def _act(self, name: str, path: str, **form: Any) -> None:
        status = self.lead.post(f"/projects/team/{path}", **form)
        self.done[name] += 1
        if status != 302:
            self.errors.append(f"{name}: {status}")

    # --- after the day -----------------------------------------------------------------------

    def verify(self, seconds: float) -> int:
        """0 when everything is as it should be."""
        from django.db.models import Count

        from labeling.models import Annotation, AnnotationRevision, Assignment

        clients = self.clients
        accepted = Counter(pk for client in clients for pk in client.accepted)
        stored = Annotation.with_checks.filter(
            status="submitted", assignment__annotator__in=[client.user for client in clients]
        )
        stored = stored.exclude(assignment__round__kind="calibration")
        kept = set(stored.values_list("assignment", flat=True))
        revisions = AnnotationRevision.objects.filter(annotation__in=stored, kind="submitted")
        places = Assignment.objects.filter(annotation__status="submitted", slot__isnull=False)
        of_pool = list(
            places.filter(round=self.pool)
            .values_list("conversation")
            .annotate(n=Count("pk"), people=Count("annotator", distinct=True))
        )
        exact = sum((n, people) == (self.options.overlap,) * 2 for _, n, people in of_pool)
        per_round = places.values_list("round", "conversation").annotate(n=Count("pk"))
        counts = {
            "accepted, but not stored": len(set(accepted) - kept),
            "stored, but not accepted": len(kept - set(accepted)),
            "accepted twice": sum(n > 1 for n in accepted.values()),
            "submissions without their one revision": abs(revisions.count() - len(kept)),
            "conversations with more people than wanted": sum(
                n > self.options.overlap for _, _, n in per_round.exclude(round__kind="calibration")
            ),
            "conversations with other than exactly as many": self.options.conversations - exact,
            "saves by people who had been removed": self._saves_while_away(),
            "errors of clients": sum(len(client.errors) for client in clients),
            "errors of the lead": len(self.errors),
            "newcomers who are not in": len(self._not_in()),
        }
        took = sorted(1000 * call for client in clients for call in client.took)
        told: Counter[str] = sum((client.told for client in clients), Counter())
        releases, freezes = self._frozen()
        counts["releases too few"] = max(0, self.options.releases - releases)
        print(
            f"  {len(kept)} answers in {seconds:.0f} s, {len(took)} requests: p50"
            f" {took[len(took) // 2]:.0f} ms, p95 {took[int(0.95 * len(took))]:.0f} ms, longest"
            f" {took[-1]:.0f} ms"
        )
        print("  done: " + ", ".join(f"{name} {n}" for name, n in sorted(self.done.items())))
        print(f"  releases of gold meanwhile: {releases}")
        for line in freezes:
            print(f"    {line}")
        entered = ", ".join(f"{name} {after:.1f} s" for name, after in self.in_after.items())
        print(f"  newcomers were in after: {entered}")
        if self.connections:
            print(f"  connections to the database, at most: {self.connections}")
        print("  told: " + ", ".join(f"{code} {n}" for code, n in sorted(told.items())))
        print(f"  exactly {self.options.overlap} people: {exact} of {self.options.conversations}")
        for what, n in counts.items():
            print(f"  {n:>6}  {what}")
        for text in [*self.errors, *(text for client in clients for text in client.errors)][:5]:
            print(f"  {text}")
        return int(any(counts.values()))

    def _frozen(self) -> tuple[int, list[str]]:
        """How many releases appeared while people worked, and what became of each request."""
        from labeling.models import Event, GoldRelease
        from labeling.services.gold.gold_requests import ASKED, OUTCOMES

        during = GoldRelease.objects.filter(project=self.project, frozen_at__lt=self.ended)
        events = Event.objects.filter(project=self.project)
        outcomes = {event.data["request"]: event for event in events.filter(verb__in=OUTCOMES)}
        lines = []
        for asked in events.filter(verb=ASKED).order_by("pk"):
            outcome = outcomes.get(asked.pk)
            if outcome is None:
                lines.append("no answer")
                continue
            what = outcome.data.get("release") or outcome.data["message"]["code"]
            items = f", {outcome.data['items']} items" if "items" in outcome.data else ""
            after = "" if outcome.at < self.ended else ", after the day"
            waited = (outcome.at - asked.at).total_seconds()
            lines.append(f"{what}{items} {waited:.1f} s after it was asked for{after}")
        return during.count(), lines

    def _saves_while_away(self) -> int:
        """What was accepted between the answer to a removal and the lead's asking for a return."""
        absences = [*self.absences, *((user, since, inf) for user, since in self.away.items())]
        return sum(
            since < sent and answered < until
            for user, since, until in absences
            for client in self.clients
            if client.user == user
            for sent, answered in client.stored
        )

    def _not_in(self) -> list[str]:
        from labeling.services.work import admission

        new = [client.user for client in self.clients if client.user.username.startswith("new-")]
        return [user.username for user in new if admission.not_calibrated_on(self.project, user)]


def measure(options: argparse.Namespace) -> int:
    with tempfile.TemporaryDirectory() as folder:
        settle(folder)
        from django.db import connection

        with web_server(folder) as port, worker(folder):
            day = Day(options, port)
            day.prepare()
            print(
                f"\n{connection.vendor}, {options.clients} clients,"
                f" {options.conversations} conversations, overlap {options.overlap}"
            )
            seconds = day.run()
            drained = drain(day.project)
            failed = day.verify(seconds)
            if drained is None:
                print("  NOT everything was merged")
            return failed or int(drained is None)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--clients", type=int, default=32)
    parser.add_argument("--conversations", type=int, default=2000)
    parser.add_argument("--overlap", type=int, default=3)
    parser.add_argument("--releases", type=int, default=2, help="default: %(default)s")
    parser.add_argument("--databases", nargs="+", default=["sqlite", "postgresql"])
    parser.add_argument("--only", help=argparse.SUPPRESS)
    sys.exit(on_each_database(__file__, parser.parse_args(), measure))
