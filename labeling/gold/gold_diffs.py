"""Two gold releases compared."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from labeling.domain.batches import batches
from labeling.domain.numbers import natural_key
from labeling.gold.rules.content import GoldContent
from labeling.gold.rules.gold_changes import ItemChanged, changed
from labeling.models import GoldRelease

AT_A_TIME = 200


class ReleaseDiff(NamedTuple):
    """``names`` are the items that differ, in the order of their ids, and ``by_split`` how many
    items of each split were added, removed and changed, and how many are the same.
    """

    before: GoldRelease
    after: GoldRelease
    names: list[str]
    by_split: dict[str, Counter[str]]

    def changes(self, names: Sequence[str]) -> Iterator[ItemChanged]:
        """What became of these items."""
        for part in batches(names, AT_A_TIME):
            old, new = _documents(self.before, part), _documents(self.after, part)
            changes = (changed(name, old.get(name), new.get(name)) for name in part)
            yield from (change for change in changes if change)


def compare(before: GoldRelease, after: GoldRelease) -> ReleaseDiff:
    """By the hashes of the items."""
    old, new = (
        {name: (split, sha256) for name, split, sha256 in rows}
        for rows in (
            release.items.order_by().values_list("item_id", "split", "sha256")
            for release in (before, after)
        )
    )
    names: list[str] = []
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
            names.append(name)
    return ReleaseDiff(before, after, names, dict(sorted(by_split.items())))


def _documents(release: GoldRelease, names: Sequence[str]) -> dict[str, GoldContent]:
    rows = release.items.filter(item_id__in=names).order_by().values_list("item_id", "canonical")
    return {name: json.loads(canonical) for name, canonical in rows}
