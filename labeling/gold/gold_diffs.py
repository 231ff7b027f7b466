"""Comparing two gold releases: what was added, removed and changed.

Only the ids of the items that differ are held; the items are read a few at a time.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from django.db.models import Count, Exists, OuterRef, QuerySet

from labeling.domain.errors import RuleError
from labeling.domain.numbers import natural_key
from labeling.gold.rules.content import GoldContent
from labeling.gold.rules.gold_changes import ItemChanged, changed
from labeling.models import GoldItem, GoldRelease

AT_A_TIME = 200


class NotComparable(RuleError):
    """The releases hold labels of different kinds."""

    code = "not_comparable"


Splits = tuple[str | None, str | None]
"""Of an item, in the older and in the newer release; None: it is not there."""


class ReleaseDiff(NamedTuple):
    """``splits`` has the items that differ, in the order of their ids, with their split in both
    releases, and ``same_in`` how many of each split are alike.
    """

    before: GoldRelease
    after: GoldRelease
    splits: Mapping[str, Splits]
    same_in: Mapping[str, int]

    @property
    def names(self) -> list[str]:
        return list(self.splits)

    @property
    def same(self) -> int:
        return sum(self.same_in.values())

    def by_split(self) -> dict[str, Counter[str]]:
        """How many items of each split were added, removed and changed, and how many are same."""
        counts = {split: Counter(same=number) for split, number in self.same_in.items()}
        for old, new in self.splits.values():
            kind = "added" if old is None else "removed" if new is None else "changed"
            split = new if new is not None else old or ""
            counts.setdefault(split, Counter())[kind] += 1
        return dict(sorted(counts.items()))

    def changes(self, names: Sequence[str] | None = None) -> Iterator[ItemChanged]:
        """What became of these items; without names, of all that differ."""
        chosen = self.names if names is None else names
        for start in range(0, len(chosen), AT_A_TIME):
            part = chosen[start : start + AT_A_TIME]
            old, new = _documents(self.before, part), _documents(self.after, part)
            changes = (changed(name, old.get(name), new.get(name)) for name in part)
            yield from (change for change in changes if change)

    def items_before(self, names: Sequence[str]) -> list[int]:
        """The keys of the items of these names in the older release."""
        keys: list[int] = []
        for start in range(0, len(names), AT_A_TIME):
            part = names[start : start + AT_A_TIME]
            keys += self.before.items.filter(item_id__in=part).values_list("pk", flat=True)
        return keys


def compare(before: GoldRelease, after: GoldRelease) -> ReleaseDiff:
    """By the hashes of the items."""
    if before.layer != after.layer:
        raise NotComparable(
            "gold.other_layer",
            before=str(before),
            layer=before.layer,
            after=str(after),
            layer2=after.layer,
        )
    removed = dict(_not_in(after, before).values_list("item_id", "split"))
    added = dict(_not_in(before, after).values_list("item_id", "split"))
    alike = after.items.filter(Exists(_alike(before))).order_by().values_list("split")
    names = sorted({*removed, *added}, key=natural_key)
    splits = {name: (removed.get(name), added.get(name)) for name in names}
    return ReleaseDiff(before, after, splits, dict(alike.annotate(n=Count("pk"))))


def _not_in(other: GoldRelease, release: GoldRelease) -> QuerySet[GoldItem]:
    """The items that the other release does not hold exactly so."""
    return release.items.filter(~Exists(_alike(other))).order_by()


def _alike(release: GoldRelease) -> QuerySet[GoldItem]:
    return release.items.order_by().filter(item_id=OuterRef("item_id"), sha256=OuterRef("sha256"))


def _documents(release: GoldRelease, names: Sequence[str]) -> dict[str, GoldContent]:
    rows = release.items.filter(item_id__in=names).order_by().values_list("item_id", "canonical")
    return {name: json.loads(canonical) for name, canonical in rows}
