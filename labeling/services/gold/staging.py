"""Items on their way into a release: written to disk as they are made, so that none is held."""

from __future__ import annotations

import json
import pickle
import weakref
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from os import SEEK_END
from tempfile import TemporaryFile
from typing import Any, Generic, NamedTuple, Self, TypeVar

from labeling.services.gold import signing

Row = TypeVar("Row")

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
    signature: str = ""


class Spool(Generic[Row]):
    """Values in a nameless file of the system, to be read in their order any number of times."""

    def __init__(self) -> None:
        self._file = TemporaryFile("w+b")  # noqa: SIM115  # closed with the object
        weakref.finalize(self, self._file.close)
        self._size = 0

    def __len__(self) -> int:
        return self._size

    def append(self, row: Row) -> None:
        self._file.seek(0, SEEK_END)
        pickle.dump(row, self._file, protocol=pickle.HIGHEST_PROTOCOL)
        self._size += 1

    def __iter__(self) -> Iterator[Row]:
        place = 0
        for _ in range(self._size):
            self._file.seek(place)
            row: Row = pickle.load(self._file)  # noqa: S301  # what this process has written
            place = self._file.tell()
            yield row


class StagedItems:
    """Items in a nameless file of the system; of each only its id and its place are in memory.

    They come back signed, in the order in which they were added, or in that of ``sort``.
    """

    def __init__(self) -> None:
        self._signer = signing.signer()
        self._file = TemporaryFile("w+b")  # noqa: SIM115  # closed by __exit__
        self._places: dict[str, int] = {}
        self._end = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def __len__(self) -> int:
        return len(self._places)

    def __contains__(self, item_id: str) -> bool:
        return item_id in self._places

    def add(self, item: FrozenItem) -> None:
        """An item of the same id takes the place of the one that was added before."""
        text = item.canonical.encode()
        signed = item._replace(canonical="", signature=self._signer.sign_item(item.sha256))
        head = json.dumps([*signed, len(text)]).encode() + b"\n"
        self._file.seek(self._end)
        self._places[item.item_id] = self._end
        self._end += self._file.write(head) + self._file.write(text)

    def sort(self, key: Callable[[str], Any]) -> None:
        """Order the items by what ``key`` makes of their ids."""
        self._places = {item_id: self._places[item_id] for item_id in sorted(self._places, key=key)}

    def __iter__(self) -> Iterator[FrozenItem]:
        for place in self._places.values():
            self._file.seek(place)
            *columns, size = json.loads(self._file.readline())
            yield FrozenItem(*columns)._replace(canonical=self._file.read(size).decode())


def batches(rows: Iterable[Row], size: int = BATCH) -> Iterator[list[Row]]:
    """The rows in lists of this size; the last one may be shorter."""
    iterator = iter(rows)
    while batch := list(islice(iterator, size)):
        yield batch
