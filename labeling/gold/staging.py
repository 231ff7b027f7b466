"""Items on their way into a release: their texts are on disk, so that few are in memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from labeling.core.spool import Spool

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


class Items:
    """The items of a release to be, in the order in which they were added, or in that of ``sort``.

    An item of the same id takes the place of the one that was added before.
    """

    def __init__(self) -> None:
        self._spool: Spool[FrozenItem] = Spool()
        self._heads: dict[str, tuple[FrozenItem, int]] = {}

    def __len__(self) -> int:
        return len(self._heads)

    def __iter__(self) -> Iterator[FrozenItem]:
        return (self._spool[number] for _, number in self._heads.values())

    def add(self, item: FrozenItem) -> None:
        self._heads[item.item_id] = item._replace(canonical=""), len(self._spool)
        self._spool.append(item)

    def sort(self, key: Callable[[str], bytes]) -> None:
        """Order the items by what ``key`` makes of their ids."""
        self._heads = dict(sorted(self._heads.items(), key=lambda pair: key(pair[0])))

    def heads(self) -> Iterator[FrozenItem]:
        """The items without their texts."""
        return (head for head, _ in self._heads.values())

    def hashes(self) -> Iterator[tuple[str, str]]:
        """The ids of the items, each with its hash."""
        return ((head.item_id, head.sha256) for head in self.heads())

    def splits(self) -> Iterator[tuple[str, str]]:
        """The ids of the items, each with its split."""
        return ((head.item_id, head.split) for head in self.heads())
