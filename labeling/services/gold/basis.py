"""What the items of a release are made of: did anything change meanwhile, and about what?

Answers of a conversation, what was decided about them, and its split lead to its item. A digest of
these is kept on disk for each conversation when it is read, and compared later.
"""

from __future__ import annotations

import hashlib
import sqlite3
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Any, NamedTuple, Self

from django.db import models
from django.db.models import Case, Count, F, IntegerField, Max, Value, When

from labeling.domain.canonical import canonical_json
from labeling.models import (
    Adjudication,
    Annotation,
    AnnotationRevision,
    Assignment,
    Conversation,
    DisputeOutcome,
    Project,
    Review,
    RoundConversation,
)

LATE = 1000
"""Keys behind the newest that are looked at, too: PostgreSQL shows rows when they are committed,
which may be in another order.
"""


class Mark(NamedTuple):
    """A moment: the newest rows that tell of changes, and what no row tells of."""

    revision: int
    review: int
    decision: int
    outcome: int
    settings: str


class Basis:
    """The digests of the conversations of a project as they were read, in a nameless database."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self._db = sqlite3.connect("", isolation_level=None)
        self._db.executescript(
            "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;"
            "CREATE TABLE basis (conversation INTEGER PRIMARY KEY, digest BLOB)"
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._db.close()

    def read(self, conversations: Collection[int]) -> None:
        """Keep how these conversations are now; to be called before anything is made of them."""
        self._db.executemany("REPLACE INTO basis VALUES (?, ?)", _digests(conversations).items())

    def changed(self, conversations: Iterable[Sequence[int]]) -> list[int]:
        """Those that are not as they were read, or were not read."""
        return [
            conversation
            for part in conversations
            for conversation, digest in _digests(part).items()
            if self._kept(conversation) != digest
        ]

    def mark(self) -> Mark:
        """The moment, for :meth:`changed_since`."""
        return Mark(
            revision=_newest(AnnotationRevision),
            review=_newest(Review),
            decision=_newest(Adjudication),
            outcome=_newest(DisputeOutcome),
            settings=_settings(self.project),
        )

    def changed_since(self, mark: Mark) -> list[int] | None:
        """The conversations that changed, of those that anything was done about since.

        None if what concerns all of them has changed.
        """
        if _settings(self.project) != mark.settings:
            return None
        return self.changed([sorted(set(self._touched(mark)))])

    def _kept(self, conversation: int) -> bytes | None:
        select = "SELECT digest FROM basis WHERE conversation = ?"
        row = self._db.execute(select, [conversation]).fetchone()
        return row[0] if row else None

    def _touched(self, mark: Mark) -> Iterator[int]:
        project = self.project
        revisions = AnnotationRevision.objects.filter(
            pk__gt=mark.revision - LATE, annotation__assignment__round__project=project
        ).exclude(kind=AnnotationRevision.Kind.SAVED)
        yield from revisions.values_list("annotation__assignment__conversation", flat=True)
        reviews = Review.objects.filter(
            pk__gt=mark.review - LATE, annotation__assignment__round__project=project
        )
        yield from reviews.values_list("annotation__assignment__conversation", flat=True)
        decisions = Adjudication.objects.filter(
            pk__gt=mark.decision - LATE, conversation__project=project
        )
        yield from decisions.values_list("conversation", flat=True)
        outcomes = DisputeOutcome.objects.filter(
            pk__gt=mark.outcome - LATE, dispute__conversation__project=project
        )
        yield from outcomes.values_list("dispute__conversation", flat=True)


def _digests(conversations: Collection[int]) -> dict[int, bytes]:
    rows: dict[int, list[Any]] = defaultdict(list)
    for conversation, *row in _rows(conversations):
        rows[conversation].append(row)
    return {
        conversation: hashlib.sha256(repr(of_one).encode()).digest()
        for conversation, of_one in rows.items()
    }


def _rows(conversations: Collection[int]) -> Iterator[tuple[Any, ...]]:
    """What items follow from, each row with its conversation first.

    Answers may change; what else is named here is only ever added to. Drafts change all the time,
    which changes no item.
    """
    of_answer = ("annotation", "annotation__status", "annotation__guideline")
    version = Case(
        When(annotation__status=Annotation.Status.DRAFT, then=Value(0)),
        default=F("annotation__version"),
        output_field=IntegerField(),
    )
    of_these = {"conversation__in": conversations}
    yield from (
        Conversation.objects.filter(pk__in=conversations)
        .order_by("pk")
        .values_list(*("pk", "external_id", "domain", "difficulty", "split"))
    )
    yield from (
        Assignment.objects.filter(**of_these)
        .annotate(answered_in=version)
        .order_by("pk")
        .values_list("conversation", "pk", "round", "slot", *of_answer, "answered_in")
    )
    reviews = Review.objects.filter(annotation__assignment__conversation__in=conversations)
    yield from reviews.order_by("pk").values_list("annotation__assignment__conversation", "pk")
    decisions = Adjudication.objects.filter(**of_these)
    yield from decisions.order_by("pk").values_list("conversation", "pk")
    outcomes = DisputeOutcome.objects.filter(dispute__conversation__in=conversations)
    yield from outcomes.order_by("pk").values_list("dispute__conversation", "pk")


def _newest(model: type[models.Model]) -> int:
    return int(model._default_manager.aggregate(newest=Max("pk"))["newest"] or 0)


def _settings(project: Project) -> str:
    """What concerns all conversations: a few rows, and how many of those to label each split has.

    No row tells that a conversation got a split. Others are imported all the time.
    """
    names = ("match_threshold", "actor_synonyms", "layers", "publish_names")
    rounds = project.rounds.order_by("pk")
    places = RoundConversation.objects.filter(round__in=rounds).order_by("conversation__split")
    splits = places.values_list("conversation__split").annotate(Count("pk"))
    return canonical_json(
        [
            Project.objects.filter(pk=project.pk).values(*names).get(),
            [list(row) for row in rounds.values_list("pk", "kind", "overlap")],
            [round_.pk for round_ in rounds if round_.is_blind],
            [list(row) for row in splits],
            project.guidelines.values_list("version", flat=True).first(),
        ]
    )
