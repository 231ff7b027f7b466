"""Labels of several people in a table of text: a row is what one person says of one unit.

What is missing and what was not read is said; what is not clear is refused with its line.
"""

from __future__ import annotations

import csv
import io
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from decimal import Decimal

from labeling.agreement.rules.agreement import Agreement, agreement
from labeling.agreement.rules.kappa import Level
from labeling.domain.csv_cells import unsafe_cell
from labeling.domain.errors import FileFault
from labeling.domain.facts import Fact
from labeling.domain.msgids import msgid

DELIMITERS = ",;\t|"
COLUMNS = ("item", "unit", "annotator", "label")
MISSING = frozenset({"", "nan", "na", "n/a", "#n/a", "<na>", "null"})
"""In any case. Python's ``None`` is missing, too, but only so written: “none” may be a label."""
NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)")
SHOWN = 8

Label = int | float | str
Row = Mapping[str, str]


@dataclass(slots=True)
class LabelTable:
    """``labels``: by annotator, item and unit, what was said; None where it is missing."""

    labels: dict[str, dict[str, dict[str, Label | None]]] = field(default_factory=dict)
    level: Level = "nominal"
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
        return agreement(ratings, level=self.level)


def read(content: bytes, level: Level = "nominal") -> LabelTable:
    """The labels of a file with a row for each, under a line that names the columns.

    Raises
    ------
    FileFault
        It is another kind of file, a row does not say one thing, or its labels have no order.
    """
    reader = _reader(_decoded(content))
    names = list(reader.fieldnames or ())
    if len(set(names)) < len(names):
        raise FileFault(msgid("two columns have one name: {columns}"), columns=names[:SHOWN])
    if missing := [name for name in COLUMNS if name not in names]:
        raise FileFault("label_table.columns", missing=missing, columns=names[:SHOWN])
    table = LabelTable(level=level)
    for line, row in _rows(reader):
        _take(table, line, row)
    if not table.labels:
        raise FileFault(msgid("the table has no rows"))
    table.notes = list(_notes(table))
    if rest := [name for name in names if name not in COLUMNS]:
        table.notes.append(
            Fact(msgid("Columns that were not read: {columns}."), columns=rest[:SHOWN])
        )
    return table


def _decoded(content: bytes) -> str:
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise FileFault("file.line_no_utf8", line=line) from None


def _reader(text: str) -> csv.DictReader[str]:
    header = text.partition("\n")[0]
    if not header.strip():
        raise FileFault("file.empty")
    delimiter = max(DELIMITERS, key=header.count)
    lines = io.StringIO(text, newline="")
    return csv.DictReader(lines, delimiter=delimiter, strict=True, skipinitialspace=True)


def _rows(reader: csv.DictReader[str]) -> Iterator[tuple[int, Row]]:
    """With the line on which each ends."""
    try:
        for row in reader:
            width = len(reader.fieldnames or ())
            cells = [cell for cell in row.values() if isinstance(cell, str)]
            cells += row.get(None) or []
            if len(cells) != width:
                raise FileFault(
                    msgid(
                        "line {line:d}: {cells} cells, but {columns} columns; a cell that "
                        "holds “{delimiter}” must stand in quotation marks"
                    ),
                    line=reader.line_num,
                    delimiter=reader.reader.dialect.delimiter,
                    cells=len(cells),
                    columns=width,
                )
            yield reader.line_num, {name: unsafe_cell(cell.strip()) for name, cell in row.items()}
    except csv.Error as error:
        raise FileFault("file.line_is_no_row", line=reader.line_num + 1, why=str(error)) from None


def _take(table: LabelTable, line: int, row: Row) -> None:
    item, unit, annotator = row["item"], row["unit"], row["annotator"]
    if not (item and unit and annotator):
        raise FileFault(
            msgid("line {line:d}: item, unit and annotator must be filled in"), line=line
        )
    by_unit = table.labels.setdefault(annotator, {}).setdefault(item, {})
    if unit in by_unit:
        raise FileFault(
            msgid("line {line:d}: {annotator} labels {unit} of {item} a second time"),
            line=line,
            annotator=annotator,
            unit=unit,
            item=item,
        )
    by_unit[unit] = label = label_of(row["label"])
    table.missing += label is None


def label_of(text: str) -> Label | None:
    """What a cell says: equal numbers are one label; None where it says nothing.

    Examples
    --------
    >>> [label_of(text) for text in ("1", "1.0", "0.5", "yes", "N/A", "None", "none")]
    [1, 1, 0.5, 'yes', None, None, 'none']
    """
    if text == "None" or text.casefold() in MISSING:
        return None
    if not NUMBER.fullmatch(text):
        return text
    value = Decimal(text)
    return int(value) if value == value.to_integral_value() else float(value)


def _notes(table: LabelTable) -> Iterator[Fact]:
    """What a reader of the figures must know; refuses labels whose order nobody can know."""
    if table.missing:
        yield Fact(
            msgid("Missing labels: {missing}. They count in no pair."), missing=table.missing
        )
    labels = {
        label
        for items in table.labels.values()
        for by_unit in items.values()
        for label in by_unit.values()
        if label is not None
    }
    texts = sorted(label for label in labels if isinstance(label, str))
    if texts and table.level != "nominal":
        raise FileFault(
            msgid(
                "{statistic} needs numbers, and these labels are none: {labels}. "
                "Write them as numbers, or use nominal"
            ),
            statistic=table.level,
            labels=texts[:SHOWN],
        )
    if len(labels) > 2 and not texts and table.level == "nominal":
        yield Fact(
            msgid(
                "Labels that differ count as equally far apart. If they are scores, "
                "use --statistic interval."
            )
        )
