"""Putting items into the database a few at a time, and then, in one row, the release they are of.

Inserting a hundred thousand items in one transaction would keep everybody from writing. So
items are inserted under the key of a release that is not there yet, where nothing shows them. A
process that ends on the way leaves them, and its draft, to the sweep.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from datetime import timedelta
from typing import Self

from django.db import connection, transaction
from django.db.models import Max, QuerySet
from django.db.models.functions import Now

from labeling.domain.batches import batches
from labeling.domain.errors import RuleError
from labeling.domain.gold.tree import Tree
from labeling.models import Annotation, GoldDraft, GoldItem, GoldRelease
from labeling.services import keys
from labeling.services.gold.staging import FrozenItem
from labeling.services.settling.corrections import MADE_ELSEWHERE
from labeling.services.short_writes import short_write
from labeling.services.work import locking

ROWS, CHARACTERS = 200, 1_000_000
"""Of one transaction: it takes some 20 ms."""

DEAD_AFTER = timedelta(minutes=10)
"""A process inserts several times a second."""


class DraftGivenUp(RuleError):
    """The process stood still for so long that its items were swept."""

    code = "draft_given_up"


class ItemDraft:
    """Inserted items of a release to be; ``root`` and ``size`` are of the tree over them."""

    def __init__(self) -> None:
        self.pk = _reserve()
        self.size, self.root = 0, ""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        """What was inserted goes, unless it was published or the caller rolls back anyway."""
        if kind is not None and not connection.in_atomic_block:
            self.give_up()

    def give_up(self) -> None:
        """Remove what was inserted, unless it was published."""
        _sweep(GoldDraft.objects.filter(pk=self.pk, state=GoldDraft.INSERTING))

    def insert(
        self, items: Iterable[FrozenItem], *, stay_alive: Callable[[], None] = lambda: None
    ) -> None:
        """``stay_alive`` tells others who wait for the caller."""
        tree = Tree()
        for batch in _batches(enumerate(items)):
            rows = [
                GoldItem(release_id=self.pk, position=position, **item._asdict())
                for position, item in batch
            ]
            with short_write():
                self._stay_alive()
                GoldItem.objects.bulk_create(rows)
            stay_alive()
            for _, item in batch:
                tree.add(item.sha256)
        self.size, self.root = tree.size, tree.root

    def remove(self, conversations: Collection[int]) -> None:
        """Take the items of these conversations out again."""
        if not conversations:
            return
        for part in batches(conversations, ROWS):
            with short_write():
                self._stay_alive()
                self._items().filter(conversation__in=part).delete()
        tree = Tree()
        rows = self._items().order_by("position").values_list("sha256", flat=True)
        for sha256 in rows.iterator():
            tree.add(sha256)
        self.size, self.root = tree.size, tree.root

    def publish(self) -> None:
        """To be called in the transaction that inserts the release; then :func:`finish` it."""
        inserting = GoldDraft.objects.filter(pk=self.pk, state=GoldDraft.INSERTING)
        if not inserting.update(state=GoldDraft.PUBLISHED, alive_at=Now()):
            raise DraftGivenUp("gold.draft_given_up")

    def _items(self) -> QuerySet[GoldItem]:
        return GoldItem.objects.filter(release=self.pk)

    def _stay_alive(self) -> None:
        inserting = GoldDraft.objects.filter(pk=self.pk, state=GoldDraft.INSERTING)
        if not inserting.update(alive_at=Now()):
            raise DraftGivenUp("gold.draft_given_up")


@transaction.atomic
def _reserve() -> int:
    """A key that no release and no draft has, or has had.

    Who comes back after the sweep would take another's draft of the same key for their own.
    """
    of_drafts = GoldDraft.objects.aggregate(newest=Max("pk"))["newest"]
    key = keys.reserve(GoldRelease, above=of_drafts or 0)
    GoldDraft.objects.create(pk=key)
    return key


def _batches(rows: Iterable[tuple[int, FrozenItem]]) -> Iterator[list[tuple[int, FrozenItem]]]:
    batch: list[tuple[int, FrozenItem]] = []
    characters = 0
    for row in rows:
        batch.append(row)
        characters += len(row[1].canonical)
        if len(batch) == ROWS or characters >= CHARACTERS:
            yield batch
            batch, characters = [], 0
    if batch:
        yield batch


# --- afterwards -----------------------------------------------------------------------------------


def finish(key: int) -> None:
    """Lock the answers behind the items of a published release. Until then the items hold them."""
    last = -1
    while rows := _following(key, last):
        part = [conversation for _, conversation in rows]
        with short_write():
            locking.lock(Annotation.objects.filter(assignment__conversation__in=part))
        last = rows[-1][0]
    GoldDraft.objects.filter(pk=key).delete()


def _following(key: int, last: int) -> list[tuple[int, int]]:
    """Positions and conversations of items that people labelled here."""
    items = GoldItem.objects.filter(release=key, position__gt=last)
    rows = items.exclude(how__in=MADE_ELSEWHERE).order_by("position")
    return list(rows.values_list("position", "conversation")[:ROWS])


def sweep() -> None:
    """Finish or remove what processes that ended have left."""
    dead = GoldDraft.objects.filter(alive_at__lt=Now() - DEAD_AFTER)
    for draft in list(dead.filter(state=GoldDraft.PUBLISHED)):
        finish(draft.pk)
    _sweep(dead.exclude(state=GoldDraft.PUBLISHED))


def give_up(keys: Collection[int]) -> None:
    """Remove drafts whose process is known to have ended, unless they were published."""
    _sweep(GoldDraft.objects.filter(pk__in=keys).exclude(state=GoldDraft.PUBLISHED))


def _sweep(drafts: QuerySet[GoldDraft]) -> None:
    """First nothing more is inserted; what was is removed a few at a time, and the draft last."""
    keys = list(drafts.values_list("pk", flat=True))
    drafts.update(state=GoldDraft.GIVEN_UP)
    for draft in list(GoldDraft.objects.filter(pk__in=keys, state=GoldDraft.GIVEN_UP)):
        items = GoldItem.objects.filter(release=draft.pk).order_by()
        while part := list(items.values_list("pk", flat=True)[:ROWS]):
            with short_write():
                GoldItem.objects.filter(pk__in=part).delete()
        draft.delete()
