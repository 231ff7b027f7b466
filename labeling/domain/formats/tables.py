"""Tables whose rows are messages: CSV, TSV and Parquet.

Rows of one conversation may lie apart: they are put together on disk, so memory does not grow.
"""

from __future__ import annotations

import csv
import json
import sqlite3
from codecs import BOM_UTF8
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, date, datetime
from itertools import chain, groupby, islice
from textwrap import shorten
from typing import Any, BinaryIO, NamedTuple

from labeling.domain.batches import batches
from labeling.domain.errors import FileFault
from labeling.domain.exchange.importing import LeftOut, Problem
from labeling.domain.facts import Fact
from labeling.domain.formats import chatlogs
from labeling.domain.formats.talks import (
    MAX_BYTES,
    HowToRead,
    SaidTurn,
    Talk,
    head_of,
    is_storable,
    shown_time,
    stem_of,
    time_in,
)

ROW_BYTES = 1024 * 1024
GROUP_BYTES = 512 * 1024 * 1024
"""Of one group of rows of a Parquet file, uncompressed: small files may hold far more."""
TABLE_CHARACTERS = 4 * 1024**3
"""Of all texts of a table: a small Parquet file can repeat a text a million times."""
ROWS = 500
FEW_ROWS = 16  # at a time where equal texts cannot be held once
DELIMITERS = (",", ";", "\t", "|")

_NAMES = {
    "conversation": """
        conversation_id conversation conv_id conv dialog_id dialogue_id dialog dialogue chat_id chat
        session_id session thread_id thread interview_id interview transcript_id call_id call
        ticket_id ticket gespräch gespräch_id gespraech
    """,
    "speaker": """
        speaker speaker_name author sender from name user username participant who said_by
        sprecher absender
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


def read_csv(stream: BinaryIO, *, name: str, how: HowToRead) -> Iterator[Talk | Problem]:
    """With a comma, semicolon, tab or bar between columns: what its first line has most of."""
    yield from _read_lines(stream, name, how, delimiter=None)


def read_tsv(stream: BinaryIO, *, name: str, how: HowToRead) -> Iterator[Talk | Problem]:
    yield from _read_lines(stream, name, how, delimiter="\t")


def header_of(stream: BinaryIO, format: str) -> list[str]:
    """The names of the columns; none where the file cannot be read."""
    try:
        if format == "parquet":
            return _parquet(stream).schema_arrow.names  # type: ignore[no-any-return]
        rows = _rows(stream, "\t" if format == "tsv" else None)
        return next(rows, (0, []))[1]
    except FileFault:
        return []
    finally:
        stream.seek(0)


# --- text -----------------------------------------------------------------------------------------


def _read_lines(
    stream: BinaryIO, name: str, how: HowToRead, *, delimiter: str | None
) -> Iterator[Talk | Problem]:
    try:
        rows = _rows(stream, delimiter)
        _line, header = next(rows, (0, []))
        if not header:
            yield Problem(None, Fact("file.empty"))
            return
        columns = chosen_columns(header, how.columns)
        places = {what: header.index(column) for what, column in columns.items()}
    except FileFault as fault:
        yield Problem(1, fault.fact)
        return
    yield from _grouped(_cells(rows, len(header), places), name, by_id="conversation" in places)


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
    rows: Iterable[tuple[int, list[str]]], width: int, places: Mapping[str, int]
) -> Iterator[_Cells | Problem]:
    try:
        for line, row in rows:
            if len(row) != width:
                yield Problem(line, Fact("file.other_width", cells=len(row), columns=width))
                continue
            cells = {what: row[place].strip() for what, place in places.items()}
            yield _checked(line, cells)
    except FileFault as fault:
        yield Problem(None, fault.fact)


class _Cells(NamedTuple):
    line: int
    conversation: str
    place: float
    name: str
    role: str
    text: str
    time: str


def _checked(line: int, cells: Mapping[str, str]) -> _Cells | Problem:
    """A row whose cells say what they should."""
    try:
        order = cells.get("order", "")
        return _Cells(
            line=line,
            conversation=cells.get("conversation", ""),
            place=_place(order) if order else 0.0,
            name=cells["speaker"],
            role=cells.get("role", ""),
            text=_storable(cells["text"]),
            time=time_in(cells.get("time", "")) or "",
        )
    except FileFault as fault:
        return Problem(line, fault.fact)


def _place(written: str) -> float:
    try:
        return float(written.replace(",", "."))
    except ValueError:
        pass
    try:
        time = datetime.fromisoformat(time_in(written) or "")
        return (time if time.tzinfo else time.replace(tzinfo=UTC)).timestamp()
    except (ValueError, OverflowError, OSError):
        raise FileFault("file.no_time_known", value=shown_time(written)) from None


def _storable(text: str) -> str:
    if not is_storable(text):
        raise FileFault("file.bad_character", path=Fact("place.text"))
    return text


# --- Parquet --------------------------------------------------------------------------------------


def read_parquet(stream: BinaryIO, *, name: str, how: HowToRead) -> Iterator[Talk | Problem]:
    """Rows that are messages, or rows that hold a whole chat log in a list."""
    try:
        file = _parquet(stream)
        header = file.schema_arrow.names
        whole = [column for column in chatlogs.MESSAGES if column in header]
        if whole and not how.columns:
            yield from _whole_chats(_batches(file, header), name)
            return
        columns = chosen_columns(header, how.columns)
    except FileFault as fault:
        yield Problem(None, fault.fact)
        return
    rows = _of_batches(file, columns)
    yield from _grouped(rows, name, by_id="conversation" in columns)


def _parquet(stream: BinaryIO) -> Any:
    import pyarrow  # only for these files
    from pyarrow import parquet

    try:
        limits = {"thrift_string_size_limit": 16 * 2**20, "thrift_container_size_limit": 2**20}
        file = parquet.ParquetFile(stream, **limits)
        repeated = _repeatable(file)
        file = parquet.ParquetFile(stream, read_dictionary=repeated, **limits)
        file.schema_arrow.names  # noqa: B018 - names that are no UTF-8 are an error here
    except (pyarrow.ArrowException, OSError, ValueError) as error:
        raise FileFault("file.not_parquet", why=_said(error)) from None
    groups = range(file.num_row_groups)
    if any(file.metadata.row_group(group).total_byte_size > GROUP_BYTES for group in groups):
        raise FileFault("file.group_too_large", limit=GROUP_BYTES)
    return file


def _repeatable(file: Any) -> list[str]:
    """The columns of texts that can be read with each text once: all but those of differences."""
    groups = [file.metadata.row_group(number) for number in range(file.num_row_groups)]
    chunks = (group.column(number) for group in groups for number in range(group.num_columns))
    differences = {
        chunk.path_in_schema
        for chunk in chunks
        if any(encoding.startswith("DELTA_") for encoding in chunk.encodings)
        and ("." not in chunk.path_in_schema or "DELTA_LENGTH_BYTE_ARRAY" in chunk.encodings)
    }
    columns = [file.schema.column(number) for number in range(len(file.schema))]
    texts = {column.path for column in columns if column.physical_type == "BYTE_ARRAY"}
    return sorted(texts - differences)


def _batches(file: Any, columns: Sequence[str]) -> Iterator[tuple[int, dict[str, Any]]]:
    """Rows by their number, from 1.

    Raises
    ------
    FileFault
        The file is broken further on.
    """
    import pyarrow

    number = 0
    try:
        kinds = [file.schema_arrow.field(column).type for column in columns]
        is_long = any(map(pyarrow.types.is_string, kinds)) or any(
            map(pyarrow.types.is_binary, kinds)
        )
        rows = FEW_ROWS if is_long else ROWS
        for batch in file.iter_batches(batch_size=rows, columns=list(columns)):
            values = [_values(column) for column in batch.columns]
            for cells in zip(*values, strict=True):
                number += 1
                yield number, dict(zip(batch.schema.names, cells, strict=True))
    except (pyarrow.ArrowException, OSError, ValueError, OverflowError) as error:
        raise FileFault("file.not_parquet", why=_said(error)) from None


def _values(array: Any) -> list[Any]:
    """As Python has them; a text that comes again and again is there once."""
    import pyarrow

    kind = array.type
    if pyarrow.types.is_dictionary(kind):
        places = array.indices.to_pylist()
        texts = {place: array.dictionary[place].as_py() for place in set(places) - {None}}
        return [None if place is None else texts[place] for place in places]
    if pyarrow.types.is_struct(kind):
        names = [kind.field(number).name for number in range(kind.num_fields)]
        fields = zip(*(_values(part) for part in array.flatten()), strict=True)
        rows = zip(array.is_valid().to_pylist(), fields, strict=True)
        return [dict(zip(names, row, strict=True)) if is_row else None for is_row, row in rows]
    if pyarrow.types.is_list(kind) or pyarrow.types.is_large_list(kind):
        parts = iter(_values(array.flatten()))
        lengths = array.value_lengths().to_pylist()
        return [None if length is None else list(islice(parts, length)) for length in lengths]
    return array.to_pylist()  # type: ignore[no-any-return]


def _characters(value: Any) -> int:
    """Of all texts in a value of a row."""
    if isinstance(value, dict):
        return sum(map(_characters, value.values()))
    if isinstance(value, list):
        return sum(map(_characters, value))
    return len(value) if isinstance(value, str | bytes) else 0


def _whole_chats(rows: Iterator[tuple[int, dict[str, Any]]], name: str) -> Iterator[Talk | Problem]:
    number = 0
    try:
        for number, row in rows:
            try:
                if _characters(row) > MAX_BYTES:
                    raise FileFault("file.conversation_too_long", limit=MAX_BYTES)
                yield chatlogs.talk_of(number, row, name=name)
            except FileFault as fault:
                yield Problem(number, fault.fact)
    except FileFault as fault:
        yield Problem(number or None, fault.fact)


def _of_batches(file: Any, columns: Mapping[str, str]) -> Iterator[_Cells | Problem]:
    try:
        for number, row in _batches(file, list(columns.values())):
            if _characters(row) > ROW_BYTES:
                yield Problem(number, Fact("file.row_too_long", line=number, limit=ROW_BYTES))
                continue
            cells = {what: _written(row[column]) for what, column in columns.items()}
            yield _checked(number, cells)
    except FileFault as fault:
        yield Problem(None, fault.fact)


def _written(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, datetime | date):
        return value.isoformat()
    if isinstance(value, bytes):
        return value.decode(errors="replace")
    if isinstance(value, dict | list):
        return json.dumps(value, ensure_ascii=False, default=str)
    return str(value).strip()


def _said(error: Exception) -> str:
    return shorten(str(error), 200)


# --- rows to conversations ------------------------------------------------------------------------

_TABLE = """
PRAGMA journal_mode = OFF;
PRAGMA synchronous = OFF;
CREATE TABLE said (
  row INTEGER PRIMARY KEY, line INTEGER, conversation TEXT, place REAL, name TEXT, role TEXT,
  text TEXT, time TEXT
);
"""
_IN_ORDER = """
SELECT conversation, line, place, name, role, text, time FROM (
  SELECT *, MIN(row) OVER (PARTITION BY conversation) AS first FROM said
) ORDER BY first, place, row
"""


def _grouped(
    rows: Iterable[_Cells | Problem], name: str, *, by_id: bool
) -> Iterator[Talk | Problem]:
    """The conversations, in the order of their first rows; problems come as they are met."""
    database = sqlite3.connect("", isolation_level=None)
    try:
        database.executescript(_TABLE)
        database.execute("BEGIN")
        is_empty, size = True, 0
        for some in batches(rows, ROWS):
            is_empty = False
            yield from (row for row in some if isinstance(row, Problem))
            cells = [row for row in some if isinstance(row, _Cells)]
            size += sum(len(row.text) for row in cells)
            if size > TABLE_CHARACTERS:
                yield Problem(None, Fact("file.too_long", limit=TABLE_CHARACTERS))
                return
            if by_id and (lost := next((row for row in cells if not row.conversation), None)):
                yield Problem(lost.line, Fact("file.row_of_no_conversation"))
            database.executemany(
                "INSERT INTO said (line, conversation, place, name, role, text, time)"
                " VALUES (?, ?, ?, ?, ?, ?, ?)",
                cells,
            )
        if is_empty:
            yield Problem(None, Fact("file.empty"))
        in_order = database.execute(_IN_ORDER)
        for conversation, group in groupby(in_order, key=lambda row: str(row[0])):
            yield _talk(conversation or stem_of(name), group)
    finally:
        database.close()


def _talk(id: str, rows: Iterable[tuple[Any, ...]]) -> Talk | Problem:
    rows = iter(rows)
    first = next(rows)
    turns: list[SaidTurn] = []
    left_out: list[LeftOut] = []
    size = 0
    for _, line, _place, name, role, text, time in chain([first], rows):
        if not text.strip():
            left_out.append(LeftOut(line, Fact("left_out.no_text", name=name or role), ""))
            continue
        size += len(text)
        if size > MAX_BYTES:
            for _row in rows:  # of the same conversation
                pass
            return Problem(first[1], Fact("file.conversation_too_long", limit=MAX_BYTES))
        turns.append(SaidTurn(name or role, text, time, role))
    return Talk(first[1], id, turns, left_out)
