"""What two gold releases do not share, item by item, label by label and word by word."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from typing import Any, Literal, NamedTuple

from labeling.agreement.matching.diffing import FieldChange, Part, difference, word_parts
from labeling.agreement.matching.references import heading_of
from labeling.domain.canonical import canonical_json
from labeling.gold.rules.content import GoldContent, GoldMessage
from labeling.schema import LAYERS

ChangeKind = Literal["added", "removed", "changed"]

MOST_CHARACTERS = 20_000
"""Longer texts are shown as removed and added: aligning their words would take too long."""


class FieldChanged(NamedTuple):
    """A field of a label with both values; ``parts`` says what became of its words or entries."""

    name: str
    before: Any
    after: Any
    parts: list[Part]
    is_list: bool


class LabelChanged(NamedTuple):
    """A label that only one release has, or that has other fields in the other one."""

    kind: ChangeKind
    layer: str
    uid: str
    title: str
    fields: list[FieldChanged]


class MessageChanged(NamedTuple):
    """A message that only one release has, or that says something else in the other one.

    ``place`` is its index in the newer release that has it.
    """

    kind: ChangeKind
    place: int
    speaker: str
    parts: list[Part]


@dataclass(frozen=True, slots=True)
class ItemChanged:
    """``messages`` says what of the conversation differs; ``how`` and ``split`` have both if they
    differ. ``other`` are the further keys of an item that differ, such as its provenance.
    """

    item_id: str
    kind: ChangeKind
    labels: list[LabelChanged] = field(default_factory=list)
    how: tuple[str, str] | None = None
    messages: list[MessageChanged] = field(default_factory=list)
    split: tuple[str, str] | None = None
    other: list[str] = field(default_factory=list)

    @property
    def text(self) -> bool:
        return bool(self.messages)

    @property
    def is_of_gold(self) -> bool:
        """Whether a pipeline would be scored differently: the labels or the text changed."""
        return self.kind != "changed" or bool(self.labels or self.messages)

    def as_json(self) -> dict[str, Any]:
        messages = [
            {"kind": each.kind, "index": each.place, "parts": _rows(each.parts)}
            for each in self.messages
        ]
        labels = [label._asdict() | {"fields": _fields(label)} for label in self.labels]
        return {
            **{name: getattr(self, name) for name in self.__slots__},
            "text": self.text,
            "messages": messages,
            "labels": labels,
        }


def _fields(label: LabelChanged) -> list[dict[str, Any]]:
    return [
        {
            "name": each.name,
            "before": each.before,
            "after": each.after,
            "parts": _rows(each.parts),
        }
        for each in label.fields
    ]


def _rows(parts: Sequence[Part]) -> list[dict[str, str]]:
    return [part._asdict() for part in parts]


_SAID = {"gold", "given", "conversation", "split"}
"""Keys of an item whose changes are told one by one."""


def changed(
    item_id: str, before: GoldContent | None, after: GoldContent | None
) -> ItemChanged | None:
    """What happened to one item between two releases; None if nothing did.

    Labels are the same label when they have the same uid. A label whose words were taken from
    somebody else since is therefore removed and added.
    """
    if before is None or after is None:
        return ItemChanged(item_id, "added" if before is None else "removed")
    if before == after:
        return None
    old: Mapping[str, Any] = before
    new: Mapping[str, Any] = after
    return ItemChanged(
        item_id,
        "changed",
        labels=_labels(before, after),
        how=_both(before["provenance"]["how"], after["provenance"]["how"]),
        messages=list(_messages(before["conversation"], after["conversation"])),
        split=_both(before.get("split") or "", after.get("split") or ""),
        other=sorted(key for key in {*old, *new} - _SAID if old.get(key) != new.get(key)),
    )


def _labels(before: GoldContent, after: GoldContent) -> list[LabelChanged]:
    layers = {layer.key: layer.name for layer in LAYERS.values()}
    old = {**before.get("given", {}), **before["gold"]}
    new = {**after.get("given", {}), **after["gold"]}
    known = {
        str(label["uid"]): label
        for payload in (old, new)
        for labels in payload.values()
        for label in labels
    }
    return [
        LabelChanged(
            change.kind,
            layers[change.layer_key],
            change.uid,
            heading_of(layers[change.layer_key], change.label, known),
            [_field(each) for each in change.fields],
        )
        for change in difference(old, new).labels
    ]


def _field(change: FieldChange) -> FieldChanged:
    before, after = change.before, change.after
    is_list = isinstance(before or after, list) and isinstance(after or before, list)
    if is_list:
        parts = _list_parts(_entries(before), _entries(after))
    else:
        parts = _text_parts(_entry(before), _entry(after))
    return FieldChanged(change.name, before, after, parts, is_list)


def _entries(value: Any) -> list[str]:
    return [_entry(entry) for entry in value or []]


def _entry(value: Any) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else canonical_json(value)


def _list_parts(before: Sequence[str], after: Sequence[str]) -> list[Part]:
    """Entry by entry.

    Examples
    --------
    >>> [tuple(part) for part in _list_parts(["0", "2"], ["0", "3"])]
    [('same', '0'), ('removed', '2'), ('added', '3')]
    """
    parts: list[Part] = []
    for kind, a, b, c, d in SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        if kind == "equal":
            parts += [Part("same", entry) for entry in before[a:b]]
            continue
        parts += [Part("removed", entry) for entry in before[a:b]]
        parts += [Part("added", entry) for entry in after[c:d]]
    return parts


def _text_parts(before: str, after: str) -> list[Part]:
    if len(before) + len(after) <= MOST_CHARACTERS:
        return word_parts(before, after)
    kinds: list[tuple[Literal["removed", "added"], str]] = [("removed", before), ("added", after)]
    return [Part(kind, text) for kind, text in kinds if text]


def _messages(
    before: Sequence[GoldMessage], after: Sequence[GoldMessage]
) -> Iterator[MessageChanged]:
    old, new = ([_said(message) for message in side] for side in (before, after))
    for kind, a, b, c, d in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if kind == "equal":
            continue
        shared = min(b - a, d - c)
        for left, right in zip(before[a : a + shared], after[c : c + shared], strict=True):
            parts = _text_parts(left["content"], right["content"])
            yield MessageChanged("changed", right["index"], right["speaker"], parts)
        for message in before[a + shared : b]:
            yield _only("removed", message)
        for message in after[c + shared : d]:
            yield _only("added", message)


def _only(kind: Literal["removed", "added"], message: GoldMessage) -> MessageChanged:
    parts = [Part(kind, message["content"])]
    return MessageChanged(kind, message["index"], message["speaker"], parts)


def _said(message: GoldMessage) -> tuple[str, str, str, str]:
    return message["role"], message["speaker"], message["content"], message["time"] or ""


def _both(before: str, after: str) -> tuple[str, str] | None:
    return (before, after) if before != after else None
