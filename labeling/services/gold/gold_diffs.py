"""Comparing two gold releases: what was added, removed and changed."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from typing import NamedTuple, TypedDict

from django.db.models import Exists, OuterRef

from labeling.domain.errors import RuleError
from labeling.domain.gold.content import GoldContent
from labeling.domain.gold.gold_changes import ItemChanged, ItemChangeRow, changed
from labeling.models import Conversation, GoldRelease


class NotComparable(RuleError):
    """The releases hold labels of different kinds."""

    code = "not_comparable"


class NamedRelease(TypedDict):
    release: str
    layer: str
    sha256: str


class ReleaseDiffRow(TypedDict):
    """A :class:`ReleaseDiff` as plain JSON."""

    before: NamedRelease
    after: NamedRelease
    same: int
    items: list[ItemChangeRow]


TEST = Conversation.Split.TEST


class ReleaseDiff(NamedTuple):
    """``same`` counts the items that are equal in both releases; ``splits`` has the split of each
    item, in ``after`` if that holds it.
    """

    before: GoldRelease
    after: GoldRelease
    items: list[ItemChanged]
    same: int
    splits: Mapping[str, str]

    def by_split(self) -> dict[str, Counter[str]]:
        """How many items of each split were added, removed and changed, and how many are same."""
        kinds = {item.item_id: item.kind for item in self.items}
        counts: dict[str, Counter[str]] = {split: Counter() for split in self.splits.values()}
        for name, split in self.splits.items():
            counts[split][kinds.get(name, "same")] += 1
        return dict(sorted(counts.items()))

    def by_layer(self) -> dict[str, Counter[str]]:
        """How many labels of each layer were added, removed and changed in items of both."""
        counts: dict[str, Counter[str]] = {}
        for item in self.items:
            for label in item.labels:
                counts.setdefault(label.layer, Counter())[label.kind] += 1
        return dict(sorted(counts.items()))

    def without_test(self) -> ReleaseDiff:
        """Without what is a test item in either release."""
        left = {name: split for name, split in self.splits.items() if split != TEST}
        items = [
            item for item in self.items if item.item_id in left and TEST not in (item.split or ())
        ]
        differing = {item.item_id for item in self.items}
        return self._replace(items=items, same=len(left.keys() - differing), splits=left)

    def as_json(self) -> ReleaseDiffRow:
        return {
            "before": _named(self.before),
            "after": _named(self.after),
            "same": self.same,
            "items": [item.as_json() for item in self.items],
        }


def compare(before: GoldRelease, after: GoldRelease) -> ReleaseDiff:
    """Item by item. Only items whose hashes differ are read."""
    if before.layer != after.layer:
        raise NotComparable(
            "gold.other_layer",
            before=str(before),
            layer=before.layer,
            after=str(after),
            layer2=after.layer,
        )
    splits: dict[str, str] = {}
    for release in (before, after):
        splits |= dict(release.items.order_by("position").values_list("item_id", "split"))
    left, right = _not_in(after, before), _not_in(before, after)
    changes = (changed(name, left.get(name), right.get(name)) for name in sorted({*left, *right}))
    items = [item for item in changes if item]
    return ReleaseDiff(before, after, items, len(splits) - len(items), splits)


def _not_in(other: GoldRelease, release: GoldRelease) -> dict[str, GoldContent]:
    """The documents of the items that the other release does not hold exactly so, by their id."""
    alike = other.items.filter(item_id=OuterRef("item_id"), sha256=OuterRef("sha256"))
    rows = release.items.filter(~Exists(alike)).order_by().values_list("item_id", "canonical")
    return {name: json.loads(canonical) for name, canonical in rows.iterator()}


def _named(release: GoldRelease) -> NamedRelease:
    return {"release": str(release), "layer": release.layer, "sha256": release.sha256}
