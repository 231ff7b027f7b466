"""Items on their way into a release: their texts are on disk, so that few are in memory."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from labeling.core.spool import Spool
from labeling.domain.batches import batches

BATCH = 500
"""Rows that are written, or read back, at a time."""


class FrozenItem(NamedTuple):
    """A line of a release, and the hash that proves all of it."""

    item_id: str
    conversation_id: int
    split: str
    how: str
    canonical: str
    sha256: str


class _Place(NamedTuple):
    """What is asked of all items, and where the text of this one is."""

    conversation: int
    split: str
    how: str
    sha256: str
    number: int


class Items:
    """The items of a release to be, in the order in which they were added, or in that of ``sort``.

    An item of the same id takes the place of the one that was added before.
    """

    def __init__(self) -> None:
        self._spool: Spool[FrozenItem] = Spool()
        self._places: dict[str, _Place] = {}

    def __len__(self) -> int:
        return len(self._places)

    def __iter__(self) -> Iterator[FrozenItem]:
        return (self._spool[place.number] for place in self._places.values())

    def add(self, item: FrozenItem) -> None:
        self._places[item.item_id] = _Place(
            item.conversation_id, item.split, item.how, item.sha256, len(self._spool)
        )
        self._spool.append(item)

    def sort(self, key: Callable[[str], bytes]) -> None:
        """Order the items by what ``key`` makes of their ids."""
        self._places = dict(sorted(self._places.items(), key=lambda pair: key(pair[0])))

    def conversations(self) -> Iterator[list[int]]:
        """What the items are about, a few at a time."""
        return batches((place.conversation for place in self._places.values()), BATCH)

    def among(self, conversations: Iterable[int]) -> set[int]:
        """Those of them that an item is about."""
        return {place.conversation for place in self._places.values()}.intersection(conversations)

    def count(self, how: str) -> int:
        return sum(place.how == how for place in self._places.values())

    def hashes(self) -> Iterator[tuple[str, str]]:
        """The ids of the items, each with its hash."""
        return ((item_id, place.sha256) for item_id, place in self._places.items())

    def splits(self) -> Iterator[tuple[str, str]]:
        """The ids of the items, each with its split."""
        return ((item_id, place.split) for item_id, place in self._places.items())
