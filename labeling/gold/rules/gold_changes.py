"""What two gold releases do not share, item by item, label by label and word by word."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import SequenceMatcher
from typing import Any, Literal, NamedTuple

from labeling.agreement.matching.diffing import FieldChange, Part, difference, word_parts
from labeling.agreement.matching.references import heading_of
from labeling.domain.canonical import canonical_json
from labeling.gold.rules.content import GoldContent
from labeling.schema import LAYERS

ChangeKind = Literal["added", "removed", "changed"]

MOST_CHARACTERS = 20_000
"""Longer texts are shown as removed and added: aligning their words would take too long."""


class FieldChanged(NamedTuple):
    """A field of a label; ``parts`` says what became of its words or entries."""

    name: str
    parts: list[Part]
    is_list: bool


class LabelChanged(NamedTuple):
    """A label that only one release has, or that has other fields in the other one."""

    kind: ChangeKind
    layer: str
    title: str
    fields: list[FieldChanged]


class ItemChanged(NamedTuple):
    """``how`` and ``split`` have both if they differ; ``text``: the conversation does, too."""

    item_id: str
    kind: ChangeKind
    labels: Sequence[LabelChanged] = ()
    how: tuple[str, str] | None = None
    split: tuple[str, str] | None = None
    text: bool = False


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
    return ItemChanged(
        item_id,
        "changed",
        labels=_labels(before, after),
        how=_both(before["provenance"]["how"], after["provenance"]["how"]),
        split=_both(before.get("split") or "", after.get("split") or ""),
        text=before["conversation"] != after["conversation"],
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
            heading_of(layers[change.layer_key], change.label, known),
            [_field(each) for each in change.fields],
        )
        for change in difference(old, new)
    ]


def _field(change: FieldChange) -> FieldChanged:
    before, after = change.before, change.after
    if isinstance(before or after, list) and isinstance(after or before, list):
        parts = _list_parts(*([_entry(entry) for entry in side or []] for side in (before, after)))
        return FieldChanged(change.name, parts, is_list=True)
    return FieldChanged(change.name, _text_parts(_entry(before), _entry(after)), is_list=False)


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
    return _list_parts([before] if before else [], [after] if after else [])


def _both(before: str, after: str) -> tuple[str, str] | None:
    return (before, after) if before != after else None
