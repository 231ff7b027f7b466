"""Putting conversations into the database a few at a time, and showing all of them at once.

Inserting ten thousand conversations in one transaction would keep everybody from writing. So
they are inserted under keys that a draft hides (:class:`labeling.models.ConversationDraft`), with
their fingerprints, and the draft goes in the transaction that publishes them. A process that ends
on the way leaves them to the sweep.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from datetime import timedelta
from typing import Any, Self

from django.db import connection, transaction
from django.db.models import Max, Q, QuerySet
from django.db.models.functions import Now

from labeling.domain.batches import batches
from labeling.domain.errors import RuleError
from labeling.domain.fingerprints import Fingerprint
from labeling.models import (
    Conversation,
    ConversationDraft,
    ConversationFingerprint,
    FingerprintKey,
    Project,
    Transcript,
)
from labeling.models.conversations import IsPublished
from labeling.services import keys, near_duplicates
from labeling.services.exchange import bulk
from labeling.services.exchange.staging import New
from labeling.services.short_writes import can_tidy_up, short_write

ROWS, CHARACTERS = 200, 500_000
KEYS = 8_000
"""Of one transaction: it takes some 20 ms."""

SORTED = 200_000
"""Keys of fingerprints in memory (30 MB): those of 20,000 conversations of twelve messages."""

DEAD_AFTER = timedelta(minutes=3)
"""A process gives a sign with each batch that it computes or inserts."""

PATIENCE, POLL = 20.0, 0.2
"""Seconds that an import waits for another one into the same project."""

ADVISORY_LOCK = 4711003


class DraftGivenUp(RuleError):
    """The process stood still for so long that its conversations were swept."""

    code = "import_given_up"


class ImportUnderWay(RuleError):
    """Another import into the project has not ended yet, or its process died just now."""

    code = "import_under_way"


class Draft:
    """Keys for ``number`` conversations of a project, which may be yet to be created."""

    def __init__(self, project: Project, number: int) -> None:
        self.number = number
        self.first, self.project = _reserve(project, number)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        """What was inserted goes, unless it was published."""
        if can_tidy_up(kind):
            _sweep(ConversationDraft.objects.filter(pk=self.first))

    @property
    def conversations(self) -> QuerySet[Conversation]:
        """Those of the project as everybody sees them, and what was inserted here."""
        rows = Conversation.with_drafts.filter(project=self.project)
        return rows.filter(Q(IsPublished("pk")) | Q(pk__range=self.keys))

    @property
    def keys(self) -> tuple[int, int]:
        return self.first, self.first + self.number - 1

    def insert(self, rows: Iterable[New], at: object) -> None:
        key = self.first
        waiting: list[tuple[int, int]] = []
        for batch in _batches(rows):
            pks = range(key, key + len(batch))
            with short_write():
                self.stay_alive()
                bulk.insert(
                    Conversation,
                    (
                        (pk, self.project, *row.columns, at)
                        for pk, row in zip(pks, batch, strict=True)
                    ),
                    with_key=True,
                )
                bulk.insert(
                    Transcript, ((pk, row.text) for pk, row in zip(pks, batch, strict=True))
                )
                bulk.insert(
                    ConversationFingerprint,
                    ((pk, row.sketch) for pk, row in zip(pks, batch, strict=True)),
                )
            waiting += (
                (value, pk)
                for pk, row in zip(pks, batch, strict=True)
                for value in Fingerprint.from_bytes(row.sketch).keys.tolist()
            )
            if len(waiting) >= SORTED:
                self._insert_keys(waiting)
                waiting = []
            key += len(batch)
        self._insert_keys(waiting)

    def _insert_keys(self, keys: list[tuple[int, int]]) -> None:
        """In their order: each transaction changes another few pages of the index."""
        keys.sort()
        for some in batches(keys, KEYS):
            with short_write():
                self.stay_alive()
                bulk.insert(FingerprintKey, some)

    def stay_alive(self) -> None:
        """To be called several times a minute; nobody sweeps it until the transaction ends."""
        if not self._inserting().update(alive_at=Now()):
            raise DraftGivenUp("import.given_up")

    def publish(self) -> None:
        """In the transaction that stores all that belongs to it."""
        if not self._inserting().delete()[0]:
            raise DraftGivenUp("import.given_up")

    def _inserting(self) -> QuerySet[ConversationDraft]:
        return ConversationDraft.objects.filter(pk=self.first, state=ConversationDraft.INSERTING)


def _reserve(project: Project, number: int) -> tuple[int, int]:
    """The first key of the conversations, and the key of the project that is or will be."""
    until = time.monotonic() + PATIENCE
    others = ConversationDraft.objects.filter(slug=project.slug)
    while True:
        if not others.exists():
            with transaction.atomic():
                _lock()
                if not others.exists():
                    return _reserved(project, number)
        if connection.in_atomic_block or time.monotonic() > until:
            raise ImportUnderWay("import.under_way", slug=project.slug)
        sweep()
        time.sleep(POLL)


def _lock() -> None:
    if connection.vendor == "postgresql":  # SQLite has one writer anyway
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_advisory_xact_lock(%s)", [ADVISORY_LOCK])


def _reserved(project: Project, number: int) -> tuple[int, int]:
    newest = ConversationDraft.objects.aggregate(newest=Max("last"))["newest"]
    first = keys.reserve(Conversation, max(number, 1), above=newest or 0)
    last = first + number - 1
    owner = project.pk or keys.reserve(Project)
    ConversationDraft.objects.create(first=first, last=last, slug=project.slug, project_id=owner)
    return first, owner


def _batches(rows: Iterable[New]) -> Iterator[list[New]]:
    batch: list[New] = []
    characters = 0
    for row in rows:
        batch.append(row)
        characters += len(row.text)
        if len(batch) == ROWS or characters >= CHARACTERS:
            yield batch
            batch, characters = [], 0
    if batch:
        yield batch


def sweep() -> None:
    """Remove what processes that ended have left."""
    _sweep(ConversationDraft.objects.filter(alive_at__lt=Now() - DEAD_AFTER))


def _sweep(drafts: QuerySet[ConversationDraft]) -> None:
    """First nothing more is inserted; what was is removed a few at a time, and the draft last."""
    firsts = list(drafts.values_list("pk", flat=True))
    if not firsts:
        return
    drafts.update(state=ConversationDraft.GIVEN_UP)
    given_up = ConversationDraft.objects.filter(state=ConversationDraft.GIVEN_UP)
    for draft in list(given_up.filter(pk__in=firsts)):
        for first in range(draft.first, draft.last + 1, ROWS):
            _remove(draft.project_id, (first, min(first + ROWS - 1, draft.last)))
        draft.delete()


def _of(rows: QuerySet[Any], keys: tuple[int, int]) -> QuerySet[Any]:
    first, last = keys
    return rows.filter(conversation__gte=first, conversation__lte=last).order_by()


def _remove(project: int, keys: tuple[int, int]) -> None:
    """Only of the draft's own project: a row of another one that has such a key stays."""
    rows = Conversation.with_drafts.filter(pk__range=keys, project=project).order_by()
    own = list(rows.values_list("pk", flat=True))
    if not own:
        return
    with short_write():
        near_duplicates.forget(own)
        texts = Transcript.objects.filter(conversation__in=own).order_by()
        texts._raw_delete(texts.db)  # without asking each table that could refer to them
        rows._raw_delete(rows.db)
