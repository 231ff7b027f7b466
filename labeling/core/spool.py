"""Values on disk that are too many for memory."""

from __future__ import annotations

import pickle
import weakref
from collections.abc import Iterator
from os import SEEK_END
from tempfile import TemporaryFile
from typing import Generic, TypeVar

Row = TypeVar("Row")


class Spool(Generic[Row]):
    """Values in a nameless file of the system, to be read in their order any number of times."""

    def __init__(self) -> None:
        self._file = TemporaryFile("w+b")  # noqa: SIM115  # closed with the object
        weakref.finalize(self, self._file.close)
        self._places: list[int] = []

    def __len__(self) -> int:
        return len(self._places)

    def append(self, row: Row) -> None:
        raw = pickle.dumps(row, protocol=pickle.HIGHEST_PROTOCOL)  # which may fail
        self._places.append(self._file.seek(0, SEEK_END))
        self._file.write(raw)

    def __getitem__(self, number: int) -> Row:
        self._file.seek(self._places[number])
        row: Row = pickle.load(self._file)  # noqa: S301  # what this process has written
        return row

    def __iter__(self) -> Iterator[Row]:
        return (self[number] for number in range(len(self)))
