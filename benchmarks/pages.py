"""How long the pages of a lead take in a large project, and how many queries each of them asks.

    .venv/bin/python benchmarks/pages.py [ANSWERS] [TIMES]

Fills a database of its own (SQLite in a temporary folder, or the empty one that DATABASE_URL names)
with so many submitted answers, five to a conversation, with merges, reviews, decisions, gold,
hidden checks and events, and opens every page that often in this process. "first" is the first
opening, "quickest" the one that other programs on the machine disturbed least.
"""

from __future__ import annotations

import sys
import tempfile
import time
from itertools import islice
from typing import Any

from product import label, settle

OVERLAP, PEOPLE, GOLD, DECISIONS, CHECKS = 5, 10, 2000, 1000, 300
PAGES = [
    "",
    "progress/",
    "review/",
    "review/?mode=lowest",
    "review/?mode=all&tab=done",
    "adjudication/",
    "adjudication/?tab=agreed",
    "adjudication/accept/",
    "conversations/",
    "conversations/?search=7",
    "rounds/2/agreement/",
    "rounds/2/disagreements/",
    "rounds/new/",
    "calibration/",
    "gold/",
    "gold/large/1/",
    "audit/",
    "checks/",
    "members/",
    "guidelines/",
    "guidelines/worklist/",
    "imports/",
    "labels/",
    "targets/",
    "webhooks/",
]


def main(answers: int, times: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        settle(folder)
        started = time.perf_counter()
        lead = prepare(answers)
        print(f"{answers:,} answers, filled in {time.perf_counter() - started:.0f} s")
        measure(lead, times)


# The project


def prepare(answers: int) -> Any:
    """The lead of a project in which everybody has answered everything."""
    from django.contrib.auth.models import User
    from django.db import connection

    from labeling.models import CheckPlan, Guideline, Membership, Project

    project = Project.objects.create(slug="large", name="Large", overlap=OVERLAP, review_rate=0.1)
    guideline = Guideline.objects.create(project=project, version=1, body="# Guide")
    CheckPlan.objects.create(project=project, every=20)
    lead = User.objects.create(username="lead")
    people = [User.objects.create(username=f"annotator-{n}") for n in range(PEOPLE)]
    Membership.objects.create(project=project, user=lead, role="lead")
    for user in people:
        Membership.objects.create(project=project, user=user, role="annotator")
    talks = conversations(project, answers // OVERLAP)
    rounds(project, guideline, talks, people)
    settled(project, guideline, talks, lead)
    if connection.vendor == "postgresql":  # as its autovacuum does
        with connection.cursor() as cursor:
            cursor.execute("analyze")
    return lead


def conversations(project: Any, number: int) -> list[Any]:
    from labeling.domain import transcripts
    from labeling.domain.exchange.importing import Turn
    from labeling.models import Conversation, Transcript

    turns = [Turn("user", f"We need order {index}.") for index in range(8)]
    text = transcripts.written(turns)
    talks = [
        Conversation(
            project=project,
            external_id=f"talk-{n:06}",
            content_sha256=f"{n:064}",
            n_messages=len(turns),
            difficulty=("easy", "medium", "hard")[n % 3],
        )
        for n in range(number)
    ]
    stored(Conversation, talks)
    stored(Transcript, (Transcript(conversation=talk, messages=text) for talk in talks))
    return talks


def rounds(project: Any, guideline: Any, talks: list[Any], people: list[Any]) -> None:
    """A small calibration round that has passed, and full labeling with hidden checks."""
    from django.utils import timezone

    from labeling.models import GoldCheck, Round, RoundConversation

    common = {"project": project, "guideline": guideline, "overlap": OVERLAP}
    ended = {"kind": "calibration", "state": "passed", "closed_at": timezone.now()}
    first = Round.objects.create(**common, number=1, **ended)
    full = Round.objects.create(**common, number=2, kind="full")
    for round_, drawn in ((first, talks[:50]), (full, talks)):
        stored(
            RoundConversation,
            (
                RoundConversation(round=round_, conversation=t, position=n)
                for n, t in enumerate(drawn)
            ),
        )
        answered(assignments(round_, drawn, people), guideline)
    checks = hidden_checks(full, talks[:CHECKS], people)
    answered(checks, guideline)
    stored(GoldCheck, [GoldCheck(assignment=check, version=1, value=0.8) for check in checks])


def assignments(round_: Any, talks: list[Any], people: list[Any]) -> list[Any]:
    from labeling.models import Assignment

    return [
        Assignment(
            round=round_,
            conversation=talk,
            annotator=people[(n + 2 * slot) % PEOPLE],
            slot=slot,
            position=n,
        )
        for n, talk in enumerate(talks)
        for slot in range(OVERLAP)
    ]


def hidden_checks(round_: Any, talks: list[Any], people: list[Any]) -> list[Any]:
    from labeling.models import Assignment

    return [
        Assignment(
            round=round_,
            conversation=talk,
            annotator=people[(n + 1) % PEOPLE],
            purpose="honeypot",
        )
        for n, talk in enumerate(talks)
    ]


def answered(assignments: list[Any], guideline: Any) -> None:
    from django.utils import timezone

    from labeling.models import Annotation, Assignment

    stored(Assignment, assignments)
    stored(
        Annotation,
        (
            Annotation(
                assignment=assignment,
                guideline=guideline,
                status="submitted",
                submitted_at=timezone.now(),
                payload=payload(n),
                version=1,
                active_seconds=60 + n % 600,
            )
            for n, assignment in enumerate(assignments)
        ),
    )


def payload(n: int) -> dict[str, Any]:
    labels = [
        label(uid=f"label-{n}-{m}", id=f"REQ-00{m}", title=f"Order tracking, {m}")
        for m in (1, 2, 3)
    ]
    return {"requirements": labels}


def settled(project: Any, guideline: Any, talks: list[Any], lead: Any) -> None:
    """Merges of everything (each fifth is disputed), and what a lead did with some."""
    from labeling.models import Annotation

    full = Annotation.objects.filter(assignment__round__number=2)
    looked_at(project, list(full.values_list("pk", flat=True)), lead)
    merged(project)
    decided(guideline, talks[: DECISIONS * 5 : 5], lead)
    frozen(project, talks[-GOLD:])


def looked_at(project: Any, answers: list[int], lead: Any) -> None:
    from labeling.models import AnnotationRevision, Event, Review

    common: dict[str, Any] = {"version": 1}
    accepted = {**common, "verdict": "accepted", "reviewer": lead}
    saved = {**common, "kind": "submitted", "payload": {}, "author": lead}
    submitted = {"project": project, "actor": lead, "verb": "annotation.submitted"}
    stored(Review, (Review(annotation_id=pk, **accepted) for pk in answers[::50]))
    stored(AnnotationRevision, (AnnotationRevision(annotation_id=pk, **saved) for pk in answers))
    stored(
        Event,
        (Event(object_type="annotation", object_id=pk, data={}, **submitted) for pk in answers),
    )


def merged(project: Any) -> None:
    from labeling.models import Merge
    from labeling.services.settling import merges

    def merge(n: int, ready: merges.Ready) -> Merge:
        disputed = n % 5 == 0
        return Merge(
            conversation_id=ready.conversation,
            layer="extraction",
            round_id=ready.round,
            answers_sha256=ready.answers_sha256,
            state="disputed" if disputed else "unanimous",
            agreement=0.2 + n % 7 / 10 if disputed else 1.0,
            n_agreed=3,
            n_disputed=2 if disputed else 0,
            clusters=[payload(n)] * 2,
        )

    ready = merges.ready(project, "extraction").values()
    stored(Merge, (merge(*pair) for pair in enumerate(ready)))


def decided(guideline: Any, talks: list[Any], lead: Any) -> None:
    from labeling.models import Adjudication

    common = {"layer": "extraction", "version": 1, "guideline": guideline, "decided_by": lead}
    decision = {"payload": payload(0), "reason": "So it is", "kind": "error"}
    stored(Adjudication, (Adjudication(conversation=talk, **common, **decision) for talk in talks))


def frozen(project: Any, talks: list[Any]) -> None:
    from labeling.models import GoldItem, GoldRelease

    release = GoldRelease.objects.create(
        project=project, layer="extraction", name="large", version=1, header="{}", sha256="0"
    )
    text = '{"conversation": [{}, {}, {}, {}, {}, {}, {}, {}], "gold": {"requirements": []}}'
    common = {"release": release, "how": "unanimous", "canonical": text, "sha256": "0"}
    stored(
        GoldItem,
        (
            GoldItem(conversation=talk, item_id=talk.external_id, position=n, **common)
            for n, talk in enumerate(talks)
        ),
    )


def stored(model: Any, rows: Any) -> None:
    """In parts, so that a million rows do not lie in memory at once."""
    rows = iter(rows)
    while part := list(islice(rows, 5000)):
        model._base_manager.bulk_create(part, batch_size=1000)


# The measuring


def measure(lead: Any, times: int) -> None:
    from django.db import connection
    from django.test import Client
    from django.test.utils import CaptureQueriesContext

    client = Client(headers={"host": "localhost"})
    client.force_login(lead)
    print(f"{connection.vendor:<32}{'first':>9}{'quickest':>10}{'queries':>9}")
    for path in ["/", "/projects/", *(f"/projects/large/{page}" for page in PAGES)]:
        spent = []
        for _ in range(times):
            with CaptureQueriesContext(connection) as asked:
                started = time.perf_counter()
                response = client.get(path)
                spent.append(time.perf_counter() - started)
        if response.status_code != 200:
            sys.exit(f"{path}: {response.status_code}")
        name = path.replace("/projects/large", "…")
        print(f"{name:<32}{spent[0]:>7.2f} s{min(spent):>8.2f} s{len(asked):>9}", flush=True)


if __name__ == "__main__":
    sizes = [int(argument) for argument in sys.argv[1:]]
    main(*[*sizes, *(200_000, 3)[len(sizes) :]])
