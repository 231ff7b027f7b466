"""Conversations on their way in, on disk: checked and hashed before anything is locked."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from labeling.domain.batches import batches
from labeling.domain.exchange.importing import Fingerprint
from labeling.domain.fingerprints import Fingerprint as Sketch
from labeling.models import Conversation
from labeling.services.near_duplicates import COMMON, MOST

Places = NDArray[np.int64]
BITS = 1 << 24
"""Of 100,000 conversations, one value in six seems to be shared and is not."""

_TABLES = """
PRAGMA journal_mode = OFF;
PRAGMA synchronous = OFF;
CREATE TABLE entry (
  number INTEGER PRIMARY KEY, file INTEGER, line INTEGER, name TEXT, id TEXT, domain TEXT,
  difficulty TEXT, split TEXT, origin TEXT, generator TEXT, speakers TEXT, priority INTEGER,
  messages INTEGER, sha256 TEXT, written_sha256 TEXT, text TEXT, sketch BLOB
);
CREATE TABLE new (id TEXT PRIMARY KEY, entry INTEGER, split TEXT) WITHOUT ROWID;
CREATE TABLE key (value INTEGER, entry INTEGER, PRIMARY KEY (value, entry)) WITHOUT ROWID;
CREATE TABLE inserted (id TEXT PRIMARY KEY, entry INTEGER, split TEXT) WITHOUT ROWID;
CREATE TABLE given (conversation INTEGER PRIMARY KEY, split TEXT);
"""
_ADD_KEY = f"""
INSERT OR IGNORE INTO key SELECT ?1, ?2
WHERE (SELECT COUNT(*) FROM (SELECT 1 FROM key WHERE value = ?1 LIMIT {COMMON})) < {COMMON}
"""  # or an import in which many say the same compares each with all


class Entry(NamedTuple):
    """A conversation that passed its own checks; ``file`` and ``line`` say where it is."""

    file: int
    line: int
    name: str
    id: str
    domain: str
    difficulty: str
    split: str
    origin: str
    generator: str
    speakers: str
    priority: int
    messages: int
    sha256: str
    written_sha256: str
    text: str
    sketch: bytes

    @property
    def fingerprint(self) -> Fingerprint:
        return Fingerprint(
            self.sha256,
            self.domain,
            self.difficulty,
            self.split,
            self.written_sha256,
            self.origin,
        )


class New(NamedTuple):
    """What is decided to be stored: the columns of its table, its text and its fingerprint."""

    id: str
    domain: str
    difficulty: str
    split: str
    origin: str
    generator: str
    speakers: str
    priority: int
    messages: int
    sha256: str
    text: str
    sketch: bytes

    @property
    def columns(self) -> tuple[Any, ...]:
        """In the order of the model's fields, from the id to the hash."""
        return self[:-2]


class Shared(NamedTuple):
    """The values of a conversation that others of the same import may have, too."""

    keys: list[int]
    asked: list[int]


class Copy(NamedTuple):
    id: str
    split: str
    is_synthetic: bool
    sketch: Sketch


class Staged:
    """A nameless database of the system, which goes with its connection.

    What was read, and what was decided about it, by the number of the entry.
    """

    def __init__(self) -> None:
        self._db = sqlite3.connect("", isolation_level=None)
        self._db.executescript(_TABLES)
        self._seen, self._seen_twice = _Bits(), _Bits()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._db.close()

    def add(self, entries: Iterable[Entry], sketches: Sequence[Sketch]) -> None:
        marks = ",".join("?" * len(Entry._fields))
        self._db.execute("BEGIN")
        self._db.executemany(
            f"INSERT INTO entry ({','.join(Entry._fields)}) VALUES ({marks})", entries
        )
        self._db.execute("COMMIT")
        if sketches:
            asked = np.sort(_places(np.concatenate([each.asked for each in sketches])))
            self._seen_twice.add(asked[1:][asked[1:] == asked[:-1]])
            self._seen_twice.add(asked[self._seen.have(asked)])
            self._seen.add(asked)

    def shared(self, sketches: Sequence[Sketch]) -> list[Shared]:
        """Of each, what could be found again: most values of most conversations cannot."""
        found = [Shared([], []) for _ in sketches]
        asked = [each.asked for each in sketches]
        ends = np.cumsum([len(values) for values in asked])
        values = np.concatenate([*asked, np.empty(0, np.uint32)])
        (places,) = self._seen_twice.have(_places(values)).nonzero()
        of = ends.searchsorted(places, side="right")
        for value, place, number in zip(
            values[places].tolist(), places.tolist(), of.tolist(), strict=True
        ):
            found[number].asked.append(value)
            if place < ends[number] - len(asked[number]) + len(sketches[number].keys):
                found[number].keys.append(value)
        return found

    def entries(self, size: int) -> Iterator[list[tuple[int, Entry]]]:
        """In the order of the files, without their texts."""
        columns = ",".join("''" if name == "text" else name for name in Entry._fields)
        rows = self._db.execute(f"SELECT number, {columns} FROM entry ORDER BY number")
        for batch in batches(rows, size):
            yield [(number, Entry(*row)) for number, *row in batch]

    def text(self, number: int) -> str:
        (text,) = self._db.execute("SELECT text FROM entry WHERE number = ?", [number]).fetchone()
        return str(text)

    # --- what is decided ------------------------------------------------------------------------

    def forget_decisions(self) -> None:
        self._db.executescript("DELETE FROM new; DELETE FROM key; DELETE FROM given;")

    def decide(self, decided: Sequence[tuple[int, str, str, Shared]]) -> None:
        """Entries that shall be stored: number, id, split, and by what copies are known."""
        keys = [(value, number) for number, _, _, shared in decided for value in shared.keys]
        self._db.execute("BEGIN")
        self._db.executemany(
            "INSERT INTO new (entry, id, split) VALUES (?, ?, ?)", (row[:3] for row in decided)
        )
        self._db.executemany(_ADD_KEY, keys)
        self._db.execute("COMMIT")

    def give(self, splits: Iterable[tuple[int, str]]) -> None:
        self._db.executemany("INSERT OR REPLACE INTO given VALUES (?, ?)", splits)

    def known(self, ids: Collection[str]) -> dict[str, Fingerprint]:
        """Of these, what was decided to be stored."""
        rows = self._db.execute(
            "SELECT new.id, sha256, domain, difficulty, new.split, written_sha256, origin"
            " FROM new JOIN entry ON number = entry"
            " WHERE new.id IN (SELECT value FROM json_each(?))",
            [json.dumps(list(ids))],
        )
        return {id: Fingerprint(*rest) for id, *rest in rows}

    def copies(self, shared: Sequence[Shared]) -> list[list[Copy]]:
        """Of each, what was decided before and shares a key with it."""
        return [self._copies(each.asked) if each.asked else [] for each in shared]

    def _copies(self, values: list[int]) -> list[Copy]:
        alike = (
            "SELECT entry, COUNT(*) AS shared FROM key"
            f" WHERE value IN ({','.join(map(str, values))})"
            f" GROUP BY entry ORDER BY shared DESC, entry LIMIT {MOST}"
        )
        rows = self._db.execute(
            f"SELECT new.id, new.split, origin, sketch FROM ({alike}) AS alike"
            " JOIN entry ON number = alike.entry JOIN new ON new.id = entry.id ORDER BY number"
        )
        return [
            Copy(id, split, origin == "synthetic", Sketch.from_bytes(sketch))
            for id, split, origin, sketch in rows
        ]

    # --- what is published ----------------------------------------------------------------------

    @property
    def given(self) -> list[tuple[int, str]]:
        return self._db.execute("SELECT conversation, split FROM given").fetchall()

    def number(self) -> int:
        """Of conversations that shall be stored."""
        (number,) = self._db.execute("SELECT COUNT(*) FROM new").fetchone()
        return int(number)

    def rows(self) -> Iterator[New]:
        """In the order of the files."""
        collected = Conversation.Origin.COLLECTED.value
        origin = f"CASE origin WHEN '' THEN '{collected}' ELSE origin END"
        columns = f"new.id, domain, difficulty, new.split, {origin}, generator, speakers, priority"
        rows = self._db.execute(  # from entry to entry: texts are not sorted
            f"SELECT {columns}, messages, sha256, text, sketch"
            " FROM entry CROSS JOIN new ON new.id = entry.id AND new.entry = number ORDER BY number"
        )
        return map(New._make, rows)

    def mark_inserted(self) -> None:
        self._db.executescript("DELETE FROM inserted; INSERT INTO inserted SELECT * FROM new;")

    def is_inserted(self) -> bool:
        """Whether what shall be stored is what was marked."""
        (differs,) = self._db.execute(
            "SELECT EXISTS (SELECT * FROM new EXCEPT SELECT * FROM inserted)"
            " OR EXISTS (SELECT * FROM inserted EXCEPT SELECT * FROM new)"
        ).fetchone()
        return not differs


class _Bits:
    """A set of places, which may hold more than was put into it."""

    def __init__(self) -> None:
        self._bits = np.zeros(BITS // 8, np.uint8)

    def add(self, places: Places) -> None:
        np.bitwise_or.at(self._bits, places >> 3, (1 << (places & 7)).astype(np.uint8))

    def have(self, places: Places) -> NDArray[np.bool_]:
        return (self._bits[places >> 3] >> (places & 7)) & 1 == 1


def _places(values: NDArray[np.uint32]) -> Places:
    return values.astype(np.int64) % BITS
