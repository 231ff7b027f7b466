"""Two gold releases compared: by the hashes of their items, then label by label."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from labeling.agreement.matching.diffing import Part, difference, word_parts
from labeling.agreement.matching.references import heading_of
from labeling.domain.canonical import canonical_json
from labeling.domain.numbers import natural_key
from labeling.gold.rules.content import GoldContent
from labeling.models import GoldRelease
from labeling.schema import LAYERS


class LabelChanged(NamedTuple):
    """A label that only one release has, or that has other fields in the other one.

    ``fields`` has the words of each changed field: what is the same, removed and added.
    """

    kind: str
    layer: str
    title: str
    fields: list[tuple[str, list[Part]]]


class ItemChanged(NamedTuple):
    """``how`` and ``split`` are those of before and after; of an item of one release, twice its."""

    item_id: str
    kind: str
    how: tuple[str, str]
    split: tuple[str, str]
    labels: list[LabelChanged]


class ReleaseDiff(NamedTuple):
    """``kinds`` says of each item that differs, in the order of their ids, whether it was added,
    removed or changed, and ``by_split`` how many there are, and how many are the same.
    """

    before: GoldRelease
    after: GoldRelease
    kinds: dict[str, str]
    by_split: dict[str, Counter[str]]

    def changes(self, names: Sequence[str]) -> Iterator[ItemChanged]:
        """What became of these items. Labels are the same label when they have the same uid."""
        old, new = (_documents(release, names) for release in (self.before, self.after))
        for name in names:
            both = old.get(name) or new[name], new.get(name) or old[name]
            how, other_how = (content["provenance"]["how"] for content in both)
            split, other_split = (content.get("split") or "" for content in both)
            labels = _labels(*both)
            yield ItemChanged(
                name, self.kinds[name], (how, other_how), (split, other_split), labels
            )


def compare(before: GoldRelease, after: GoldRelease) -> ReleaseDiff:
    old, new = (
        {name: (split, sha256) for name, split, sha256 in rows}
        for rows in (
            release.items.order_by().values_list("item_id", "split", "sha256")
            for release in (before, after)
        )
    )
    kinds: dict[str, str] = {}
    by_split: dict[str, Counter[str]] = {}
    for name in sorted({*old, *new}, key=natural_key):
        if name not in new:
            kind = "removed"
        elif name not in old:
            kind = "added"
        else:
            kind = "same" if old[name] == new[name] else "changed"
        split, _ = new.get(name) or old[name]
        by_split.setdefault(split, Counter())[kind] += 1
        if kind != "same":
            kinds[name] = kind
    return ReleaseDiff(before, after, kinds, dict(sorted(by_split.items())))


def _documents(release: GoldRelease, names: Sequence[str]) -> dict[str, GoldContent]:
    rows = release.items.filter(item_id__in=names).order_by().values_list("item_id", "canonical")
    return {name: json.loads(canonical) for name, canonical in rows}


def _labels(before: GoldContent, after: GoldContent) -> list[LabelChanged]:
    layers = {layer.key: layer.name for layer in LAYERS.values()}
    old, new = ({**content.get("given", {}), **content["gold"]} for content in (before, after))
    rows = [label for labels in (*old.values(), *new.values()) for label in labels]
    known = {str(label["uid"]): label for label in rows}
    return [
        LabelChanged(
            change.kind,
            name,
            heading_of(name, change.label, known),
            [
                (each.name, word_parts(_text(each.before), _text(each.after)))
                for each in change.fields
            ],
        )
        for change in difference(old, new)
        for name in [layers[change.layer_key]]
    ]


def _text(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(map(_text, value))
    return value if isinstance(value, str) else "" if value is None else canonical_json(value)
