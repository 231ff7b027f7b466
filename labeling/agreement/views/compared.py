"""Labels that are about the same next to each other, field by field."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from labeling.conversations.views.labels import Row, field_row
from labeling.schema import form_fields
from labeling.schema.layers import REMARKS

LabelOf = dict[str, Mapping[str, Any] | None]
"""By annotator, None for those without one."""


class FieldRow(NamedTuple):
    """What each annotator wrote in a field; None without a label."""

    name: str
    cells: list[Row | None]
    differs: bool


class Compared(NamedTuple):
    """A column for each annotator who could have made such a label.

    ``ids`` are what the labels are called, empty where somebody has none. ``rows`` are the fields
    to look at: those that are not equal, and of a single label all.
    """

    people: list[str]
    ids: list[str]
    rows: list[FieldRow]
    same: list[FieldRow]


def compare(
    layer: str,
    labels: LabelOf,
    payloads: Mapping[str, Mapping[str, Any]],
) -> Compared:
    """A field that nobody filled in has no row."""
    rows: list[FieldRow] = []
    same: list[FieldRow] = []
    existing = [label for label in labels.values() if label]
    for field in form_fields(layer):
        name = field["name"]
        if not any(label.get(name) for label in existing):
            continue
        cells = [
            field_row(layer, label, name, payloads[who]) if label else None
            for who, label in labels.items()
        ]
        said = {(cell.text, *cell.lines) for cell in cells if cell}
        row = FieldRow(field["label"], cells, len(said) > 1 and name not in REMARKS)
        (rows if len(said) > 1 or len(existing) == 1 else same).append(row)
    ids = [str(label.get("id") or "") if label else "" for label in labels.values()]
    return Compared(list(labels), ids, rows, same)
