"""Rounds for imported answers: closed rounds of full labeling, one for each overlap."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from itertools import count
from typing import Any, NamedTuple

from django.contrib.auth.models import User
from django.db.models import Max
from django.utils import timezone

from labeling.conversations.formats.answers import SUBMITTED, FileAnswer
from labeling.core import acting, events
from labeling.core.rules.reasons import reason_in
from labeling.jobs import pending
from labeling.models import (
    Annotation,
    AnnotationRevision,
    Assignment,
    Project,
    Round,
    RoundConversation,
)
from labeling.schema.labels import Payload
from labeling.work import locking, rounds

BATCH = 500


class ImportedAnswer(NamedTuple):
    """An answer of a file with the keys of what it names, and its labels as they are stored."""

    conversation: int
    annotator: int
    guideline: int
    answer: FileAnswer
    payload: Payload


class ImportedRounds:
    """The n-th answer of one annotator to one conversation goes to the n-th round.

    A conversation is complete when it has as many answers as its round's overlap says, so those
    with fewer answers go to rounds of their own.
    """

    def __init__(self, project: Project, *, by: User | None, reason: str) -> None:
        self._project = project
        self._by = by
        self._locked = not rounds.gate_is_open(project)
        self._reason = reason_in(reason) if self._locked else ""
        self._rows: list[list[ImportedAnswer]] = []
        self._written: list[Round] = []

    @property
    def needs_reason(self) -> bool:
        return self._locked and not self._reason

    def add(self, row: ImportedAnswer, *, number: int) -> None:
        if number == len(self._rows):
            self._rows.append([])
        self._rows[number].append(row)

    def write(self) -> None:
        """The rounds with the most answers first."""
        narrower = []
        for rows in self._rows:
            overlaps = Counter(row.conversation for row in rows)
            widest, *fewer = sorted(set(overlaps.values()), reverse=True)
            parts = [
                (
                    rows[0].guideline,
                    overlap,
                    [r for r in rows if overlaps[r.conversation] == overlap],
                )
                for overlap in (widest, *fewer)
            ]
            self._write(*parts[0])
            narrower += parts[1:]
        for part in narrower:
            self._write(*part)

    def _write(self, guideline: int, overlap: int, rows: Sequence[ImportedAnswer]) -> None:
        round_ = self._new_round(guideline, overlap)
        self._written.append(round_)
        conversations = dict.fromkeys(row.conversation for row in rows)
        RoundConversation.objects.bulk_create(
            (
                RoundConversation(round=round_, conversation_id=pk, position=position)
                for position, pk in enumerate(conversations)
            ),
            batch_size=BATCH,
        )
        slots, queued = defaultdict[int, Any](count), defaultdict[int, Any](count)
        places = Assignment.objects.bulk_create(
            (
                Assignment(
                    round=round_,
                    conversation_id=row.conversation,
                    annotator_id=row.annotator,
                    slot=next(slots[row.conversation]),
                    position=next(queued[row.annotator]),
                )
                for row in rows
            ),
            batch_size=BATCH,
        )
        both = list(zip(places, rows, strict=True))
        annotations = Annotation.objects.bulk_create(
            [_annotation(place, row) for place, row in both], batch_size=BATCH
        )
        for annotation, row in zip(annotations, rows, strict=True):
            annotation.created_at = row.answer.created_at or annotation.created_at
        Annotation.objects.bulk_update(annotations, ["created_at"], batch_size=BATCH)
        kinds, submitted = AnnotationRevision.Kind, Annotation.Status.SUBMITTED
        AnnotationRevision.objects.bulk_create(
            (
                AnnotationRevision(
                    annotation=each,
                    version=1,
                    kind=kinds.SUBMITTED if each.status == submitted else kinds.SKIPPED,
                    payload=each.payload,
                    empty=each.empty,
                    unanswered=each.unanswered,
                    # the importer, so that nobody seems to have typed it here
                    author_id=self._by.pk if self._by else row.annotator,
                )
                for each, row in zip(annotations, rows, strict=True)
            ),
            batch_size=BATCH,
        )

    def _new_round(self, guideline: int, overlap: int) -> Round:
        self._by = self._by or acting.person()  # only now: refused labels leave no account behind
        last = self._project.rounds.aggregate(last=Max("number"))["last"] or 0
        return Round.objects.create(
            project=self._project,
            number=last + 1,
            kind=Round.Kind.FULL,
            state=Round.State.CLOSED,
            guideline_id=guideline,
            overlap=overlap,
            open_fields=self._project.open_fields,
            override_reason=self._reason,
            opened_by=self._by,
            closed_at=timezone.now(),
        )

    def close(self) -> list[int]:
        """Lock the answers, and say what came in."""
        locking.lock(Annotation.objects.filter(assignment__round__in=self._written))
        for round_ in self._written:
            events.record(
                "round.imported",
                round_,
                project=self._project,
                actor=self._by,
                conversations=round_.places.count(),
                override_reason=round_.override_reason,
            )
            pending.request(self._project, measure=round_)
        return [round_.number for round_ in self._written]


def _annotation(assignment: Assignment, row: ImportedAnswer) -> Annotation:
    answer = row.answer
    is_submitted = answer.status == SUBMITTED
    return Annotation(
        assignment=assignment,
        guideline_id=row.guideline,
        status=Annotation.Status.SUBMITTED if is_submitted else Annotation.Status.SKIPPED,
        payload=row.payload,
        empty=answer.empty,
        unanswered=list(answer.unanswered) or None,
        skip_reason="" if is_submitted else reason_in(answer.skip_reason),
        version=1,
        active_seconds=answer.active_seconds,
        submitted_at=(answer.submitted_at or timezone.now()) if is_submitted else None,
    )
