"""Labels that refer to labels: everybody refers to their own requirements, gold to its own.

Which of an annotator's labels is which gold label follows from the clusters in which the labels
of all were gathered. References are put in terms of gold before labels are compared, so that two
people who mean the same requirement say the same, and what is frozen resolves.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from labeling.schema import LAYERS, reference_fields
from labeling.schema.labels import StoredLabel
from labeling.schema.links import field_text

Label = Mapping[str, Any]
Holders = Mapping[str, str | None]
"""By annotator, the uid of their label."""


@dataclass(slots=True)
class Base:
    """What labels may refer to: the agreed labels, by uid, and who calls them what."""

    labels: dict[str, Label] = field(default_factory=dict)
    names: dict[str, dict[str, str]] = field(default_factory=dict)

    def add(self, label: Label, holders: Holders) -> None:
        uid = str(label["uid"])
        self.labels[uid] = label
        for annotator, own in holders.items():
            if own is not None:
                self.names.setdefault(annotator, {})[own] = uid


class ResolvedLabels(NamedTuple):
    """One annotator's labels in terms of gold, and those that refer to no agreed label."""

    labels: list[Label]
    lost: list[Label]


def in_terms_of(base: Base, layer: str, labels: Iterable[Label], annotator: str) -> ResolvedLabels:
    """One annotator's labels with references to the agreed labels.

    A reference to a label that was not agreed is dropped; a label that has none left is lost, too.
    A piece of a requirement's text is looked for in the agreed text, and is dropped where the
    words are not there.
    """
    resolved = ResolvedLabels([], [])
    for label in labels:
        turned = _turned(base, layer, label, base.names.get(annotator, {}))
        (resolved.lost if turned is None else resolved.labels).append(
            label if turned is None else turned
        )
    return resolved


def unresolved(layer: str, labels: Sequence[Label], known: Iterable[str]) -> list[str]:
    """Every uid that one of the labels refers to and that is not known."""
    there = set(known)
    return [
        uid
        for label in labels
        for name in reference_fields(layer)
        for uid in _listed(label.get(name))
        if uid not in there
    ]


def heading_of(layer: str, label: Label, named: Mapping[str, Label] | None = None) -> str:
    """The text by which a person knows a label; ``named`` are the labels that it may refer to.

    Examples
    --------
    >>> heading_of("events", {"trigger": {"text": "bought"}})
    'bought'
    """
    value = label.get(LAYERS[layer].heading)
    if isinstance(value, Mapping):
        return str(value.get("text") or "")
    if LAYERS[layer].heading in reference_fields(layer):
        return str((named or {}).get(str(value), {}).get("title") or value or "")
    return str(value or "")


def _turned(base: Base, layer: str, label: Label, names: Mapping[str, str]) -> Label | None:
    turned = dict(label)
    for name in reference_fields(layer):
        own = label.get(name)
        resolved = list(dict.fromkeys(names[uid] for uid in _listed(own) if uid in names))
        if not resolved:
            return None
        turned[name] = resolved if isinstance(own, list) else resolved[0]
    return quoting(base, turned)


def quoting(base: Base, label: Label) -> StoredLabel:
    """The label with its words where the agreed requirement says them, or without words."""
    requirement = base.labels.get(str(label.get("requirement")))
    if requirement is None or not label.get("span"):
        return dict(label)
    text = field_text(requirement.get(str(label.get("field"))))
    return {**label, "span": _nearest(text, label["span"])}


def _nearest(text: str, span: Mapping[str, Any]) -> Mapping[str, Any] | None:
    words = span["text"]
    places = [at for at in range(len(text)) if text.startswith(words, at)]
    if not places:
        return None
    start = min(places, key=lambda at: (abs(at - span["start"]), at))
    return {**span, "start": start, "end": start + len(words)}


def _listed(value: Any) -> list[str]:
    return list(value) if isinstance(value, list) else [value] if value else []
