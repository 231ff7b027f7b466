"""Labels of several people in a table of text, in the spellings that their tools write.

A row is what one person says of one unit. What is missing, what was taken for one label and what
was not read is said; what is not clear is refused with its line.
"""

from __future__ import annotations

import csv
import io
import re
from codecs import BOM_UTF16_BE, BOM_UTF16_LE
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import cast
from unicodedata import category, normalize

from labeling.agreement.rules.agreement import Agreement, Statistic, agreement
from labeling.agreement.rules.kappa import LEVELS, Level
from labeling.domain.csv_cells import unsafe_cell
from labeling.domain.errors import FileFault
from labeling.domain.facts import Fact
from labeling.domain.msgids import msgid

DELIMITERS = (",", ";", "\t", "|")
COLUMNS: Mapping[str, tuple[str, ...]] = {
    "item": ("item", "item_id", "conversation", "conversation_id", "document", "doc_id", "sample"),
    "unit": ("unit", "unit_id", "message", "message_id", "turn", "sentence", "span"),
    "annotator": ("annotator", "annotator_id", "rater", "coder", "judge", "worker", "labeler"),
    "label": ("label", "rating", "score", "value", "category", "code", "answer"),
}
"""What a row says, and the names by which its column is known: the first one before the others."""
HOW = ("statistic", "gate", "threshold")
"""Columns of our own downloads: by what the page's figures were computed, the same in each row."""
MISSING = frozenset({"", "nan", "na", "n/a", "#n/a", "<na>", "nat", "null", "#null!"})
"""In any case. Python's ``None`` is missing, too, but only so written: “none” may be a label."""
NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)")
ARCHIVES = (b"PK\x03\x04", b"\xd0\xcf\x11\xe0", b"\x1f\x8b")
NO_TABLES = (*ARCHIVES, b"PAR1", b"%PDF", b"SQLite", b"{", b"[", b"<")
"""How spreadsheets, archives, JSON and the like begin."""
SHOWN = 8

Label = int | float | str


@dataclass(slots=True)
class LabelTable:
    """``labels``: by annotator, item and unit, what was said; None where it is missing."""

    labels: dict[str, dict[str, dict[str, Label | None]]] = field(default_factory=dict)
    level: Level = "nominal"
    gate: Statistic = "min"
    threshold: float = 0.75
    missing: int = 0
    notes: list[Fact] = field(default_factory=list)

    def measured(self) -> Agreement:
        """A unit that somebody has not labeled, in an item that they have, is missing for them."""
        units: dict[str, set[str]] = defaultdict(set)
        for items in self.labels.values():
            for item, by_unit in items.items():
                units[item].update(by_unit)
        ratings = {
            annotator: {
                item: [by_unit.get(unit) for unit in sorted(units[item])]
                for item, by_unit in items.items()
            }
            for annotator, items in self.labels.items()
        }
        return agreement(ratings, level=self.level, statistic=self.gate, threshold=self.threshold)


def read(content: bytes, statistic: Level | None = None) -> LabelTable:
    """The labels of a file with a row for each, under a line that names the columns.

    Raises
    ------
    FileFault
        It is another kind of file, a row does not say one thing, or its labels have no order.
    """
    delimiter, rows = _rows(decoded(content))
    _line, header = next(rows, (0, []))
    if not header:
        raise FileFault("file.empty")
    places = _places(header)
    how: dict[str, set[str]] = {name: set() for name in HOW if name in places}
    reading = _Reading(decimal_comma=delimiter != ",")
    for line, row in rows:
        if len(row) != len(header):
            sizes = {"cells": len(row), "columns": len(header)}
            raise FileFault(
                msgid(
                    "line {line:d}: {cells} cells, but {columns} columns; a cell that "
                    "holds “{delimiter}” must stand in quotation marks"
                ),
                line=line,
                delimiter=delimiter,
                **sizes,
            )
        reading.take(line, {what: row[place] for what, place in places.items()})
        for name, said in how.items():
            said.add(plain(row[places[name]]).casefold())
    if not reading.lines:
        raise FileFault(msgid("the table has no rows"))
    table = reading.table
    _read_how(table, how)
    rest = [name for place, name in enumerate(header) if name and place not in places.values()]
    table.level = statistic or table.level
    table.notes = [*reading.notes(is_said=bool(statistic or how), level=table.level)]
    if rest:
        table.notes.append(
            Fact(msgid("Columns that were not read: {columns}."), columns=rest[:SHOWN])
        )
    return table


def decoded(content: bytes) -> str:
    """The text of a file in UTF-8 or UTF-16.

    Raises
    ------
    FileFault
        It is text in another encoding, or no table of text at all.
    """
    if content.lstrip().startswith(NO_TABLES):
        raise FileFault(
            msgid(
                "this is no table of text: save it as CSV with a row per label and the columns "
                "item, unit, annotator, label"
            )
        )
    is_utf16 = content.startswith((BOM_UTF16_LE, BOM_UTF16_BE))
    try:
        return content.decode("utf-16" if is_utf16 else "utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise FileFault("file.line_no_utf8", line=line) from None


def plain(text: str) -> str:
    """Without what nobody sees: white space around or twice, signs of no width, the form of é.

    Examples
    --------
    >>> plain(" Yes\\u00a0\\u200b"), plain("e\\u0301") == plain("\\u00e9")
    ('Yes', True)
    """
    visible = "".join(sign for sign in normalize("NFC", text) if category(sign) != "Cf")
    return " ".join(visible.split())


def label_of(text: str, *, decimal_comma: bool = False) -> Label | None:
    """What a cell says: the same for spellings of one label; None where it says nothing.

    Examples
    --------
    >>> [label_of(text) for text in ("1", "1.0", "01", "0.5", " TRUE", "true", "N/A", "None")]
    [1, 1, 1, 0.5, 'true', 'true', None, None]
    """
    text = plain(text)
    if text == "None" or text.casefold() in MISSING:
        return None
    number = text.replace("\u2212", "-").replace("," if decimal_comma else ".", ".")
    if NUMBER.fullmatch(number):
        value = Decimal(number)
        return int(value) if value == value.to_integral_value() else float(value)
    return text.casefold()


def _rows(text: str) -> tuple[str, Iterator[tuple[int, list[str]]]]:
    """What stands between the columns, and the rows with the line on which each begins."""
    first = text.split("\n", 1)[0].strip("\r")
    if first[:4].casefold() == "sep=" and first[4:] in DELIMITERS:  # a line for Excel alone
        return first[4:], _each(text.replace(first, "", 1), first[4:])
    known = {name for names in COLUMNS.values() for name in names}
    delimiter = max(
        DELIMITERS, key=lambda each: sum(_name(cell) in known for cell in first.split(each))
    )
    return delimiter, _each(text, delimiter)


def _each(text: str, delimiter: str) -> Iterator[tuple[int, list[str]]]:
    """Rows without anything in them are passed over."""
    lines = io.StringIO(text, newline="")
    reader = csv.reader(lines, delimiter=delimiter, strict=True, skipinitialspace=True)
    line = 1
    try:
        for row in reader:
            if any(map(plain, row)):
                yield line, [unsafe_cell(cell) for cell in row]
            line = reader.line_num + 1
    except csv.Error as error:
        raise FileFault("file.line_is_no_row", line=line, why=str(error)) from None


def _name(text: str) -> str:
    return "_".join(plain(text).strip('"').casefold().replace("-", " ").split())


def _places(header: Sequence[str]) -> dict[str, int]:
    """Where each column is."""
    names = [_name(name) for name in header]
    how = {name: (name,) for name in HOW if "statistic" in names}
    places = {}
    for what, known in {**COLUMNS, **how}.items():
        own = [name for name in names if name == what] or [name for name in names if name in known]
        if len(own) > 1:
            raise FileFault(
                msgid("several columns could be the {what}, rename all but one: {columns}"),
                what=what,
                columns=own,
            )
        if own:
            places[what] = names.index(own[0])
    if missing := [what for what in COLUMNS if what not in places]:
        is_wide = missing == ["annotator", "label"] and len(header) > 3
        code = "label_table.wide" if is_wide else "label_table.columns"
        raise FileFault(code, missing=missing, columns=list(header[:SHOWN]))
    return places


class _Reading:
    """A table on its way, and how its labels and people are spelled."""

    def __init__(self, *, decimal_comma: bool) -> None:
        self.decimal_comma = decimal_comma
        self.table = LabelTable()
        self.lines: dict[tuple[str, str, str], int] = {}
        self.names: dict[str, dict[str, None]] = defaultdict(dict)
        self.spellings: dict[Label | None, dict[str, None]] = defaultdict(dict)

    def take(self, line: int, cells: Mapping[str, str]) -> None:
        # a spreadsheet or pandas may have made 1.0 of a number 1
        item, unit, annotator = (
            re.sub(r"(?<=\d)\.0+$", "", plain(cells[what]))
            for what in ("item", "unit", "annotator")
        )
        if not (item and unit and annotator):
            raise FileFault(
                msgid("line {line:d}: item, unit and annotator must be filled in"), line=line
            )
        names = self.names[annotator.casefold()]
        names[annotator] = None
        first = self.lines.setdefault((annotator.casefold(), item, unit), line)
        if first != line:
            where = {"annotator": annotator, "item": item, "unit": unit}
            raise FileFault(
                msgid(
                    "line {line:d}: {annotator} labels {unit} of {item} a second time, "
                    "after line {first:d}"
                ),
                line=line,
                first=first,
                **where,
            )
        label = label_of(cells["label"], decimal_comma=self.decimal_comma)
        self.spellings[label][cells["label"]] = None
        self.table.missing += label is None
        self.table.labels.setdefault(next(iter(names)), {}).setdefault(item, {})[unit] = label

    def notes(self, *, is_said: bool, level: Level) -> Iterator[Fact]:
        """What a reader of the figures must know; refuses labels whose order nobody can know."""
        missing = [f"“{text}”" for text in self.spellings.pop(None, {})]
        if missing:
            total = self.table.missing
            yield Fact(
                msgid("Missing labels: {missing}, written {spellings}. They count in no pair."),
                missing=total,
                spellings=missing[:SHOWN],
            )
        several = [
            each for each in (*self.spellings.values(), *self.names.values()) if len(each) > 1
        ]
        if several:
            together = [" = ".join(f"“{text}”" for text in each) for each in several]
            yield Fact(msgid("Counted as one: {spellings}."), spellings=together[:SHOWN])
        texts = [label for label in self.spellings if isinstance(label, str)]
        if texts and level != "nominal":
            raise FileFault(
                msgid(
                    "{statistic} needs numbers, and these labels are none: {labels}. "
                    "Number them in their order, or use nominal"
                ),
                statistic=level,
                labels=texts[:SHOWN],
            )
        if len(self.spellings) > 2 and not texts and not is_said:
            yield Fact(
                msgid(
                    "Labels that differ count as equally far apart. If they are scores, "
                    "use --statistic ordinal or interval."
                )
            )


def _read_how(table: LabelTable, how: Mapping[str, set[str]]) -> None:
    """What our own download says of how its page computes."""
    for name, said in how.items():
        if len(said) != 1 or (name == "statistic" and not said <= {*LEVELS}):
            values = sorted(said)[:SHOWN]
            raise FileFault(
                msgid(
                    "the column “{column}” must say one thing in every row, not {values};"
                    " statistics are {known}"
                ),
                column=name,
                values=values,
                known=list(LEVELS),
            )
    one = {name: next(iter(said)) for name, said in how.items()}
    table.level = cast(Level, one.get("statistic", table.level))
    if one.get("gate") == "mean":
        table.gate = "mean"
    if NUMBER.fullmatch(one.get("threshold", "")):
        table.threshold = float(one["threshold"])
