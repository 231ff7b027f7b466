"""Rounds for imported answers: closed rounds of full labeling, one for each overlap."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import NamedTuple

from django.contrib.auth.models import User
from django.db.models import Count, Max
from django.utils import timezone

from labeling.conversations.formats.answers import SUBMITTED, FileAnswer
from labeling.core import acting, events
from labeling.core.rules.reasons import reason_in
from labeling.domain.batches import batches
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


@dataclass(slots=True)
class _Filling:
    """One round while it is filled: how much each person has, and its conversations."""

    round: Round
    slots: Counter[int] = field(default_factory=Counter)
    queued: Counter[int] = field(default_factory=Counter)
    rows: list[ImportedAnswer] = field(default_factory=list)


class ImportedRounds:
    """The n-th answer of one annotator to one conversation goes to the n-th round."""

    def __init__(self, project: Project, *, by: User | None, reason: str) -> None:
        self._project = project
        self._by = by
        self._locked = not rounds.gate_is_open(project)
        self._reason = reason_in(reason) if self._locked else ""
        self._filling: list[_Filling] = []

    @property
    def needs_reason(self) -> bool:
        return self._locked and not self._reason

    def add(self, row: ImportedAnswer, *, number: int) -> None:
        if number == len(self._filling):
            self._filling.append(_Filling(self._new_round(row.guideline)))
        self._filling[number].rows.append(row)

    def _new_round(self, guideline: int, *, overlap: int = 1) -> Round:
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

    def write(self) -> None:
        """Store what was added since the last time; who adds it holds its conversations."""
        for filling in self._filling:
            self._write(filling, filling.rows)
            filling.rows = []

    def _write(self, filling: _Filling, rows: list[ImportedAnswer]) -> None:
        new = [
            pk for pk in dict.fromkeys(row.conversation for row in rows) if pk not in filling.slots
        ]
        RoundConversation.objects.bulk_create(
            (
                RoundConversation(round=filling.round, conversation_id=pk, position=position)
                for position, pk in enumerate(new, start=len(filling.slots))
            ),
            batch_size=BATCH,
        )
        places = Assignment.objects.bulk_create(
            [_assignment(filling, row) for row in rows], batch_size=BATCH
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

    def close(self) -> list[int]:
        """Give every conversation a round with its own overlap, and lock the answers."""
        closed = [round_ for filling in self._filling for round_ in self._by_overlap(filling)]
        locking.lock(Annotation.objects.filter(assignment__round__in=closed))
        for round_ in closed:
            events.record(
                "round.imported",
                round_,
                project=self._project,
                actor=self._by,
                conversations=round_.places.count(),
                override_reason=round_.override_reason,
            )
            pending.request(self._project, measure=round_)
        return [round_.number for round_ in closed]

    def _by_overlap(self, filling: _Filling) -> list[Round]:
        """A conversation is complete when it has as many answers as its round's overlap says."""
        widest, *fewer = sorted(set(filling.slots.values()), reverse=True)
        filling.round.overlap = widest
        filling.round.save(update_fields=["overlap"])
        return [filling.round, *(self._split(filling.round, overlap) for overlap in fewer)]

    def _split(self, widest: Round, overlap: int) -> Round:
        narrow = self._new_round(widest.guideline_id, overlap=overlap)
        counted = widest.assignments.order_by().values("conversation").annotate(n=Count("pk"))
        fewer = sorted(counted.filter(n=overlap).values_list("conversation", flat=True))
        for some in batches(fewer, BATCH):
            widest.assignments.filter(conversation__in=some).update(round=narrow)
            widest.places.filter(conversation__in=some).update(round=narrow)
        return narrow


def _assignment(filling: _Filling, row: ImportedAnswer) -> Assignment:
    slot, position = filling.slots[row.conversation], filling.queued[row.annotator]
    filling.slots[row.conversation] += 1
    filling.queued[row.annotator] += 1
    return Assignment(
        round=filling.round,
        conversation_id=row.conversation,
        annotator_id=row.annotator,
        slot=slot,
        position=position,
    )


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
