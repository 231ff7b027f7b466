"""Labels for reading: beside the conversation they were found in, with their sources marked."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from labeling.domain.schema import LAYERS, form_fields

# shown in a label's heading, not as rows
HEAD = {"title", "type", "priority", "confidence", "source_messages"}


class Row(NamedTuple):
    """One field of a label: its name with a text, or with several lines."""

    name: str
    text: str
    lines: list[str]


class Label(NamedTuple):
    """One label of a payload; ``rows`` are its remaining fields."""

    anchor: str
    id: str
    uid: str
    title: str
    type: str
    priority: str
    confidence: Any
    sources: list[int]
    rows: list[Row]


class Mark(NamedTuple):
    """A label that cites a message."""

    anchor: str
    id: str


class Turn(NamedTuple):
    """A message with who cites it: one list of marks per column."""

    number: int
    role: str
    speaker: str
    content: str
    time: Any
    marks: list[list[Mark]]

    @property
    def differs(self) -> bool:
        """Some columns cite it and some do not."""
        return len({bool(marks) for marks in self.marks}) > 1


def labels_of(payload: Mapping[str, Any], layers: Iterable[str], *, prefix: str) -> list[Label]:
    """``prefix`` keeps the anchors of several columns apart."""
    return [
        _label(label, layer, f"{prefix}-{position}")
        for layer in layers
        for position, label in enumerate(payload.get(LAYERS[layer].key, []), start=1)
    ]


def _label(label: Mapping[str, Any], layer: str, anchor: str) -> Label:
    rows = [
        row_of(field["label"], label[field["name"]])
        for field in form_fields(layer)
        if field["name"] not in HEAD and label.get(field["name"])
    ]
    return Label(
        anchor=anchor,
        id=str(label.get("id", "")),
        uid=str(label.get("uid", "")),
        title=str(label.get("title", "")),
        type=str(label.get("type", "")),
        priority=str(label.get("priority", "")),
        confidence=label.get("confidence"),
        sources=list(label.get("source_messages") or []),
        rows=rows,
    )


def row_of(name: str, value: Any) -> Row:
    if isinstance(value, list):
        return Row(name, "", [str(line) for line in value])
    return Row(name, "none" if value is None else str(value), [])


def turns(messages: Iterable[Mapping[str, Any]], columns: Sequence[Sequence[Label]]) -> list[Turn]:
    """``messages`` have index, role, speaker, content and time."""
    return [
        Turn(
            message["index"],
            message["role"],
            message["speaker"],
            message["content"],
            message["time"],
            [_marks(column, message["index"]) for column in columns],
        )
        for message in messages
    ]


def _marks(labels: Sequence[Label], index: int) -> list[Mark]:
    return [Mark(label.anchor, label.id) for label in labels if index in label.sources]
