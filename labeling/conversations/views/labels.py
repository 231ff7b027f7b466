"""Labels for reading: next to their conversation, with their sources marked."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from django.utils.translation import gettext as _

from labeling.agreement.rules.units import sources_of
from labeling.schema import LAYERS, form_fields
from labeling.schema.forms import FormField
from labeling.schema.layers import referred_to
from labeling.translation import translated

# shown in a label's heading, not as rows
HEAD = {"confidence", "source_messages", "evidence"}


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
    layer: str
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
    """``prefix`` makes the anchors of each column unique."""
    names = _names(payload)
    return [
        _label(label, layer, position, names, f"{prefix}-{layer}-{position}")
        for layer in layers
        for position, label in enumerate(payload.get(LAYERS[layer].key, []), start=1)
    ]


def _names(payload: Mapping[str, Any]) -> dict[str, str]:
    """What to call each label that another one may refer to."""
    return {
        str(
            label.get("uid")
        ): f"{label.get('id', '')} {label.get('title') or _('Untitled')}".strip()
        for layer in referred_to()
        for label in payload.get(LAYERS[layer].key, [])
    }


def _label(
    label: Mapping[str, Any], layer: str, position: int, names: Mapping[str, str], anchor: str
) -> Label:
    kind = LAYERS[layer]
    head = HEAD | {kind.heading, *kind.badges}
    rows = [
        row_of(field["label"], _readable(label[field["name"]], field, names))
        for field in form_fields(layer)
        if field["name"] not in head and label.get(field["name"])
    ]
    heading = _field(layer, kind.heading)
    badges = [chosen(layer, name, label.get(name, "")) for name in kind.badges] + ["", ""]
    return Label(
        anchor=anchor,
        id=str(label.get("id") or f"{kind.prefix}-{position}"),
        uid=str(label.get("uid", "")),
        layer=layer,
        title=str(_readable(label.get(kind.heading, ""), heading, names)),
        type=badges[0],
        priority=badges[1],
        confidence=label.get("confidence"),
        sources=sources_of(layer, label),
        rows=rows,
    )


def field_row(layer: str, label: Mapping[str, Any], name: str, payload: Mapping[str, Any]) -> Row:
    """One field of a label; ``payload`` holds the labels that it may refer to."""
    field = _field(layer, name)
    return row_of(field["label"], _readable(label.get(name), field, _names(payload)))


def chosen(layer: str, name: str, value: Any) -> str:
    """A choice in the reader's language; values that the schema doesn't know stay as they are."""
    return _words(value, _field(layer, name))


def _field(layer: str, name: str) -> FormField:
    return next(field for field in form_fields(layer) if field["name"] == name)


def _words(value: Any, field: FormField) -> str:
    titles = {choice["value"]: choice.get("title") for choice in field["choices"]}
    return translated(titles[value]) if titles.get(value) else str(value)


def _readable(value: Any, field: FormField, names: Mapping[str, str]) -> Any:
    """A value as a person reads it: the quoted words, the names of what it refers to."""
    widget = field["widget"]
    if widget == "choice" and isinstance(value, str):
        return _words(value, field)
    if isinstance(value, list) and widget in _LINES:
        return [_LINES[widget](item, names) for item in value]
    if widget == "references":
        return names.get(str(value), str(value))
    return f"“{value['text']}”" if widget == "span" and value else value


def _phase(phase: Mapping[str, Any], names: Mapping[str, str]) -> str:
    when = f" ({phase['time_range']})" if phase.get("time_range") else ""
    messages = ", ".join(map(str, phase.get("evidence") or []))
    return _("{value}{when}: messages {value2}").format(
        value=phase.get("title") or _("Untitled"), when=when, value2=messages or _("none")
    )


def _argument(argument: Mapping[str, Any], names: Mapping[str, str]) -> str:
    words = (argument.get("span") or {}).get("text", "")
    return f"{argument.get('role', '')}: “{words}”"


_LINES: dict[str, Callable[[Any, Mapping[str, str]], str]] = {
    "references": lambda uid, names: names.get(str(uid), str(uid)),
    "phases": _phase,
    "arguments": _argument,
}


def row_of(name: str, value: Any) -> Row:
    if isinstance(value, list):
        return Row(name, "", [str(line) for line in value])
    return Row(name, _("none") if value is None else str(value), [])


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
