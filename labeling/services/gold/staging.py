"""Items on their way into a release: written to disk as they are made, so that none is held."""

from __future__ import annotations

import pickle
import sqlite3
import weakref
from collections.abc import Callable, Iterable, Iterator
from os import SEEK_END
from tempfile import TemporaryFile
from typing import Generic, NamedTuple, Self, TypeVar

from labeling.domain.batches import batches
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
    """Items in a nameless database of the system, so that none of them is in memory.

    They come back signed, in the order in which they were added, or in that of ``sort``.
    """

    def __init__(self) -> None:
        self._signer = signing.signer()
        self._db = sqlite3.connect("", isolation_level=None)  # a file that goes with the connection
        self._db.executescript(_TABLES)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._db.close()

    def __len__(self) -> int:
        (size,) = self._db.execute("SELECT COUNT(*) FROM item").fetchone()
        return int(size)

    def add(self, item: FrozenItem) -> None:
        """An item of the same id takes the place of the one that was added before."""
        signed = item._replace(signature=self._signer.sign_item(item.sha256))
        self._db.execute(_ADD, signed)

    def sort(self, key: Callable[[str], bytes]) -> None:
        """Order the items by what ``key`` makes of their ids."""
        self._db.create_function("sort_key", 1, key, deterministic=True)
        self._db.executescript(_SORT)

    def __iter__(self) -> Iterator[FrozenItem]:
        return map(FrozenItem._make, self._db.execute(f"SELECT {_COLUMNS} {_IN_ORDER}"))

    def remove(self, conversations: Iterable[int]) -> list[str]:
        """Take the items of these conversations out; returns their ids."""
        removed = []
        for conversation in conversations:
            rows = self._db.execute(
                "DELETE FROM item WHERE conversation_id = ? RETURNING item_id", [conversation]
            )
            removed += [item_id for (item_id,) in rows.fetchall()]
        for item_id in removed:
            self._db.execute("DELETE FROM place WHERE item_id = ?", [item_id])
        return removed

    def among(self, conversations: Iterable[int]) -> list[int]:
        """Those of them that an item is about."""
        select = "SELECT 1 FROM item WHERE conversation_id = ?"
        return [pk for pk in conversations if self._db.execute(select, [pk]).fetchone()]

    def conversations(self) -> Iterator[list[int]]:
        """What the items are about, a few at a time."""
        rows = self._db.execute("SELECT conversation_id FROM item ORDER BY conversation_id")
        return batches((conversation for (conversation,) in rows), BATCH)

    def count(self, how: str) -> int:
        (size,) = self._db.execute("SELECT COUNT(*) FROM item WHERE how = ?", [how]).fetchone()
        return int(size)

    def hashes(self) -> Iterator[tuple[str, str]]:
        """The ids of the items, each with its hash."""
        return iter(self._db.execute("SELECT item_id, sha256 FROM item"))

    def splits(self) -> Iterator[tuple[str, str]]:
        """The ids of the items, each with its split."""
        return iter(self._db.execute("SELECT item_id, split FROM item"))


_COLUMNS = ", ".join(FrozenItem._fields)
_IN_ORDER = "FROM place CROSS JOIN item USING (item_id) ORDER BY place.number"
_TABLES = """
    PRAGMA journal_mode = OFF;
    PRAGMA synchronous = OFF;
    CREATE TABLE item (
        item_id TEXT PRIMARY KEY, conversation_id INTEGER, split TEXT, how TEXT, canonical TEXT,
        sha256 TEXT, signature TEXT
    );
    CREATE INDEX by_conversation ON item (conversation_id);
    CREATE TABLE place (number INTEGER PRIMARY KEY, item_id TEXT UNIQUE);
    CREATE TRIGGER placed AFTER INSERT ON item BEGIN
        INSERT INTO place (item_id) VALUES (NEW.item_id);
    END;
"""
_ADD = (
    f"INSERT INTO item ({_COLUMNS}) VALUES ({', '.join('?' * len(FrozenItem._fields))})"
    " ON CONFLICT (item_id) DO UPDATE SET "
    + ", ".join(f"{name} = excluded.{name}" for name in FrozenItem._fields[1:])
)
_SORT = """
    CREATE TABLE sorted AS SELECT item_id FROM place ORDER BY sort_key(item_id), number;
    DELETE FROM place;
    INSERT INTO place (item_id) SELECT item_id FROM sorted ORDER BY rowid;
    DROP TABLE sorted;
"""
