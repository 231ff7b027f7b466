"""Tables whose rows are messages: CSV, TSV and Parquet.

Rows of one conversation may lie apart: they are put together on disk, so memory does not grow.
"""

from __future__ import annotations

import csv
import json
import sqlite3
from codecs import BOM_UTF8
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from textwrap import shorten
from typing import Any, BinaryIO, NamedTuple

from labeling.conversations.formats import chatlogs, parquet_rows, times
from labeling.conversations.formats.talks import (
    MAX_BYTES,
    HowToRead,
    SaidTurn,
    Talk,
    head_of,
    is_storable,
    stem_of,
)
from labeling.conversations.rules.importing import LeftOut, Problem
from labeling.domain.batches import batches
from labeling.domain.errors import FileFault
from labeling.domain.facts import Fact

ROW_BYTES = 1024 * 1024
ROW_COST = 50  # characters that a row counts for besides its text
TABLE_CHARACTERS = 4 * 1024**3
"""Of all texts of a table: a small Parquet file can repeat a text a million times."""
ROWS = 500
SHOWN_VALUES = 16  # of a column that is not used
DELIMITERS = (",", ";", "\t", "|")

_NAMES = {
    "conversation": """
        conversation_id conversation conv_id conv dialog_id dialogue_id dialog dialogue chat_id chat
        session_id session thread_id thread interview_id interview transcript_id call_id call
        ticket_id ticket gespräch gespräch_id gespraech
    """,
    "speaker": """
        speaker speaker_name author sender from name user username participant who said_by
        sprecher absender von
    """,
    "role": "role speaker_role rolle",
    "text": "text content message utterance body value transcript said msg nachricht inhalt",
    "time": "time timestamp datetime created_at sent_at date start start_time zeit zeitpunkt datum",
    "order": """
        order turn turn_id turn_index index position seq sequence utterance_id message_index
        reihenfolge
    """,
}
COLUMNS = {what: tuple(names.split()) for what, names in _NAMES.items()}
"""What a column can be, and the names by which it is guessed, likeliest first."""
REQUIRED = ("text", "speaker")
NO_COLUMN = "-"
"""Chosen for what the file has no column for, although one was guessed."""


def guess_columns(header: Sequence[str]) -> dict[str, str]:
    """Which column is what, by their names; a table with roles alone has its speakers there.

    Examples
    --------
    >>> guess_columns(["Chat ID", "Role", "Message", "Sent at"])
    {'conversation': 'Chat ID', 'speaker': 'Role', 'text': 'Message', 'time': 'Sent at'}
    """
    by_name = {_plain(name): name for name in reversed(header)}
    guessed = {
        what: next(by_name[name] for name in names if name in by_name)
        for what, names in COLUMNS.items()
        if any(name in by_name for name in names)
    }
    if "speaker" not in guessed and "role" in guessed:
        guessed["speaker"] = guessed.pop("role")
    return {what: guessed[what] for what in COLUMNS if what in guessed}


def chosen_columns(header: Sequence[str], columns: Mapping[str, str]) -> dict[str, str]:
    """The guess, with what the person chose instead.

    Raises
    ------
    FileFault
        A chosen column is not there, or one that is needed was neither chosen nor guessed.
    """
    repeated = next((name for name in header if name and header.count(name) > 1), None)
    if repeated is not None:
        raise FileFault("file.column_twice", column=repeated[:60])
    taken = {column for column in columns.values() if column}
    guess = {what: name for what, name in guess_columns(header).items() if name not in taken}
    wanted = {**guess, **{what: column for what, column in columns.items() if column}}
    wanted = {what: column for what, column in wanted.items() if column != NO_COLUMN}
    for column in wanted.values():
        if column not in header:
            raise FileFault("file.no_such_column", column=column[:60], columns=_shown(header))
    for what in REQUIRED:
        if what not in wanted:
            shown = _shown(header)
            raise FileFault("file.column_not_guessed", what=what, columns=shown, example=shown[0])
    return wanted


def _plain(name: str) -> str:
    return "_".join(name.strip().casefold().replace("-", " ").replace(".", " ").split())


def _shown(header: Sequence[str]) -> list[str]:
    return [name[:40] for name in header[:20]]


def is_table(head: bytes) -> bool:
    """Whether a text begins with names of columns, as what Excel saves as “Unicode Text”."""
    first = head.split(b"\n", 1)[0].decode(errors="replace").strip("\r")
    return "\t" in first and set(REQUIRED) <= guess_columns(first.split("\t")).keys()


def header_of(stream: BinaryIO, format: str) -> list[str]:
    """The names of the columns; none where the file cannot be read."""
    try:
        if format == "parquet":
            with parquet_rows.opened(stream) as opened:
                return opened.names
        rows = _rows(stream, "\t" if format == "tsv" else None)
        return next(rows, (0, []))[1]
    except FileFault:
        return []
    finally:
        stream.seek(0)


# --- text -----------------------------------------------------------------------------------------


def read_csv(
    stream: BinaryIO, *, name: str, how: HowToRead, delimiter: str | None = None
) -> Iterator[Talk | Problem]:
    """With a comma, semicolon, tab or bar between columns: what its first line has most of."""
    try:
        rows = _rows(stream, delimiter)
        _line, header = next(rows, (0, []))
        if not header:
            yield Problem(None, Fact("file.empty"))
            return
        columns = chosen_columns(header, how.columns_of(header))
        places = {what: header.index(column) for what, column in columns.items()}
        if "time" in places and (date := _date_column(header, columns)) is not None:
            places["date"] = date
    except FileFault as fault:
        yield Problem(1, fault.fact)
        return
    seen: dict[str, list[str]] = {}
    cells = _cells(rows, header, places, seen)
    yield from _grouped(cells, name, seen, {**how.columns_of(header), **columns})


def _date_column(header: Sequence[str], columns: Mapping[str, str]) -> int | None:
    """Next to a column of times of day there may be one of days."""
    days = ("date", "day", "datum", "tag")
    free = (at for at, name in enumerate(header) if name not in columns.values())
    return next((at for at in free if _plain(header[at]) in days), None)


def _rows(stream: BinaryIO, delimiter: str | None) -> Iterator[tuple[int, list[str]]]:
    """The rows with the line on which each ends; blank ones are passed over.

    Raises
    ------
    FileFault
        A row, or what a quote that is never closed makes one, is too long or cannot be read.
    """
    first = head_of(stream).split(b"\n", 1)[0].decode("utf-8-sig", errors="ignore").strip()
    lines = _Lines(stream)
    if first[:4].casefold() == "sep=" and first[4:] in DELIMITERS:  # a line for Excel alone
        delimiter = first[4:]
        next(lines)
    elif delimiter is None:
        delimiter = max(DELIMITERS, key=first.count)
    reader = csv.reader(lines, delimiter=delimiter, strict=True)
    try:
        for row in reader:
            lines.held = 0
            if any(cell.strip() for cell in row):
                yield lines.number, row
    except csv.Error as error:
        raise FileFault("file.line_is_no_row", line=lines.number, why=str(error)) from None


class _Lines:
    """The lines of a file as text, as long as those of one row stay below a limit."""

    def __init__(self, stream: BinaryIO) -> None:
        self.number = self.held = 0
        self._stream = stream

    def __iter__(self) -> _Lines:
        return self

    def __next__(self) -> str:
        raw = self._stream.readline(ROW_BYTES + 1)
        if not raw:
            raise StopIteration
        self.number += 1
        self.held += len(raw)
        if self.held > ROW_BYTES:
            raise FileFault("file.row_too_long", line=self.number, limit=ROW_BYTES)
        raw = raw.removeprefix(BOM_UTF8) if self.number == 1 else raw
        try:
            return raw.decode()
        except UnicodeDecodeError:
            raise FileFault("file.line_no_utf8", line=self.number) from None


def _cells(
    rows: Iterable[tuple[int, list[str]]],
    header: Sequence[str],
    places: Mapping[str, int],
    seen: dict[str, list[str]],
) -> Iterator[_Cells | Problem]:
    """And the first values of columns that are not used, which ``seen`` gets."""
    width = len(header)
    unused = {name: at for at, name in enumerate(header) if at not in places.values()}
    try:
        for line, row in rows:
            cells = {
                what: row[place].strip() if place < len(row) else ""
                for what, place in places.items()
            }
            if len(row) != width:
                why = Fact("file.other_width", cells=len(row), columns=width)
                yield Problem(line, why, cells.get("conversation") or shorten(" ".join(row), 100))
                continue
            for name, place in unused.items():
                if row[place].strip() and len(seen.setdefault(name, [])) < SHOWN_VALUES:
                    seen[name].append(row[place].strip())
            yield _checked(line, cells)
    except FileFault as fault:
        yield Problem(None, fault.fact)


class _Cells(NamedTuple):
    line: int
    conversation: str
    order: str
    name: str
    role: str
    text: str
    time: str


def _checked(line: int, cells: Mapping[str, str]) -> _Cells | Problem:
    """A row whose text can be stored; what its times say, all rows decide together."""
    conversation, date = cells.get("conversation", ""), cells.get("date", "")
    if not is_storable("".join(cells.values())):
        why = Fact("file.bad_character", path=Fact("place.text"))
        return Problem(line, why, conversation)
    time = cells.get("time", "")
    return _Cells(
        line=line,
        conversation=conversation,
        order=cells.get("order", ""),
        name=cells["speaker"],
        role=cells.get("role", ""),
        text=cells["text"],
        time=f"{date} {time}" if date and times.CLOCK.fullmatch(time) else time,
    )


# --- Parquet --------------------------------------------------------------------------------------


def read_parquet(stream: BinaryIO, *, name: str, how: HowToRead) -> Iterator[Talk | Problem]:
    """Rows that are messages, or rows that hold a whole chat log in a list."""
    number = 0
    try:
        with parquet_rows.opened(stream) as rows:
            header = rows.names
            whole = [column for column in chatlogs.MESSAGES if column in header]
            if whole and not how.columns_of(header):
                for number, row in rows.of(header):
                    yield _whole_chat(number, row, header, name)
                return
            columns = chosen_columns(header, how.columns_of(header))
            seen = {column: [""] for column in header if column not in columns.values()}
            cells = _of_rows(rows, columns)
            yield from _grouped(cells, name, seen, {**how.columns_of(header), **columns})
    except FileFault as fault:
        yield Problem(number or None, fault.fact)


def _whole_chat(
    number: int, row: list[Any] | None, header: Sequence[str], name: str
) -> Talk | Problem:
    try:
        if row is None or sum(map(_characters, row)) > MAX_BYTES:
            raise FileFault("file.conversation_too_long", limit=MAX_BYTES)
        return chatlogs.talk_of(number, dict(zip(header, row, strict=True)), name=name)
    except FileFault as fault:
        return Problem(number, fault.fact)


def _characters(value: Any) -> int:
    """Of all texts in a value of a row."""
    if isinstance(value, dict):
        return sum(map(_characters, value.values()))
    if isinstance(value, list):
        return sum(map(_characters, value))
    return len(value) if isinstance(value, str) else 0


def _of_rows(rows: parquet_rows.Rows, columns: Mapping[str, str]) -> Iterator[_Cells | Problem]:
    try:
        for number, row in rows.of(list(columns.values())):
            if row is None or sum(map(_characters, row)) > ROW_BYTES:
                yield Problem(number, Fact("file.row_too_long", line=number, limit=ROW_BYTES))
                continue
            yield _checked(number, dict(zip(columns, map(_written, row), strict=True)))
    except FileFault as fault:
        yield Problem(None, fault.fact)


def _written(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, dict | list):
        return json.dumps(value, ensure_ascii=False)
    return str(value).strip()


# --- rows to conversations ------------------------------------------------------------------------

_TABLE = """
PRAGMA journal_mode = OFF;
PRAGMA synchronous = OFF;
CREATE TABLE said (
  row INTEGER PRIMARY KEY, line INTEGER, conversation TEXT, written TEXT, name TEXT, role TEXT,
  text TEXT, time TEXT, place
);
"""
_IN_ORDER = """
SELECT conversation, line, name, role, text, time FROM (
  SELECT *, MIN(row) OVER (PARTITION BY conversation) AS first FROM said
) ORDER BY first, place, row
"""


def _grouped(
    rows: Iterable[_Cells | Problem],
    name: str,
    seen: Mapping[str, list[str]],
    columns: Mapping[str, str],
) -> Iterator[Talk | Problem]:
    """The conversations, in the order of their first rows; before them what cannot be read.

    A conversation of which a row cannot be read is left out: it would have a hole.
    """
    by_id = columns.get("conversation", NO_COLUMN) != NO_COLUMN
    database = sqlite3.connect("", isolation_level=None)
    try:
        database.executescript(_TABLE)
        database.execute("BEGIN")
        bad: set[str] = set()
        is_empty = True
        for problem in _stored(database, rows, by_id=by_id):
            is_empty = False
            if problem is None:
                continue
            yield problem
            if problem.line is None or not by_id:
                return
            bad.add(problem.title)
        if is_empty:
            yield Problem(None, Fact("file.empty"))
            return
        column = _Column(database, by_time=columns.get("order") != NO_COLUMN)
        for problem in column.problems():
            yield problem
            bad.add(problem.title)
        left_out = [
            LeftOut(
                1,
                Fact("left_out.column", column=column[:60]),
                ", ".join(values),
            )
            for column, values in seen.items()
        ]
        for conversation, group in groupby(
            database.execute(_IN_ORDER), key=lambda row: str(row[0])
        ):
            if conversation not in bad:
                yield _talk(conversation or stem_of(name), group, column, left_out)
                left_out = []
    except FileFault as fault:
        yield Problem(None, fault.fact)
    finally:
        database.close()


def _stored(
    database: sqlite3.Connection, rows: Iterable[_Cells | Problem], *, by_id: bool
) -> Iterator[Problem | None]:
    """The problems of rows; None for each number of rows without one."""
    size = 0
    for some in batches(rows, ROWS):
        yield None
        cells = [row for row in some if isinstance(row, _Cells)]
        yield from (row for row in some if isinstance(row, Problem))
        size += sum(len(row.text) + ROW_COST for row in cells)
        if size > TABLE_CHARACTERS:
            yield Problem(None, Fact("file.too_long", limit=TABLE_CHARACTERS))
            return
        if by_id:
            for lost in (row for row in cells if not row.conversation):
                yield Problem(
                    lost.line, Fact("file.row_of_no_conversation"), shorten(lost.text, 100)
                )
            cells = [row for row in cells if row.conversation]
        database.executemany(
            "INSERT INTO said (line, conversation, written, name, role, text, time)"
            " VALUES (?, ?, ?, ?, ?, ?, ?)",
            cells,
        )


class _Column:
    """What the columns of orders and times say, by all of their rows; without orders, times put
    the messages in order, if each has one.
    """

    def __init__(self, database: sqlite3.Connection, *, by_time: bool) -> None:
        self._database = database
        self.is_clock = times.is_clock(self._values("time"))
        self._month_first = times.month_first_in(self._values("time"))
        untimed = database.execute("SELECT 1 FROM said WHERE time = '' LIMIT 1").fetchone()
        self._has_orders = any(True for _ in self._values("written"))
        self._place = None
        if self._has_orders or (by_time and not self.is_clock and not untimed):
            self._place = times.order_of(
                lambda: self._values("written" if self._has_orders else "time")
            )

    def _values(self, column: str) -> Iterator[tuple[str, str]]:
        return iter(
            self._database.execute(
                f"SELECT conversation, {column} FROM said WHERE {column} <> '' ORDER BY row"
            )
        )

    def problems(self) -> Iterator[Problem]:
        """Of rows whose order or time says nothing; the others get their places."""
        rows = self._database.execute("SELECT row, line, conversation, written, time FROM said")
        for some in batches(rows, ROWS):
            places = []
            for row, line, conversation, written, time in some:
                try:
                    self.time(time)
                    order = written if self._has_orders else time
                    place = self._place(order) if order and self._place else 0.0
                    places.append((place, row))
                except FileFault as fault:
                    if fault.fact.code == "file.day_or_month":
                        raise
                    yield Problem(line, fault.fact, conversation)
            self._database.executemany("UPDATE said SET place = ? WHERE row = ?", places)

    def time(self, written: str) -> str:
        if self.is_clock:
            return ""
        return times.time_in(written, month_first=self._month_first) or ""


def _talk(
    id: str, rows: Iterable[tuple[Any, ...]], column: _Column, left_out: Sequence[LeftOut]
) -> Talk | Problem:
    turns: list[SaidTurn] = []
    left_out = list(left_out)
    first, size = 0, 0
    for _, line, name, role, text, time in rows:
        first = first or line
        if not text.strip():
            left_out.append(LeftOut(line, Fact("left_out.no_text", name=name or role), ""))
            continue
        size += len(text)
        if size > MAX_BYTES:
            for _row in rows:  # of the same conversation
                pass
            return Problem(first, Fact("file.conversation_too_long", limit=MAX_BYTES), id)
        if time and column.is_clock:
            left_out.append(LeftOut(line, Fact("left_out.time_of_day"), time))
        turns.append(SaidTurn(name or role, text, column.time(time), role))
    return Talk(first, id, turns, left_out)
