"""Comparing two gold releases: what was added, dropped and decided anew."""

from __future__ import annotations

import json
from typing import Any, NamedTuple

from labeling.domain.errors import RuleError
from labeling.domain.gold_changes import ItemChanged, changed
from labeling.domain.sentences import say
from labeling.models import GoldRelease


class NotComparable(RuleError):
    """The releases hold labels of different kinds."""

    code = "not_comparable"


class ReleaseDiff(NamedTuple):
    """``same`` counts the items that both releases hold alike."""

    before: GoldRelease
    after: GoldRelease
    items: list[ItemChanged]
    same: int

    def as_json(self) -> dict[str, Any]:
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
            say(
                "{before} holds {layer} and {after} holds {layer2}: compare two releases "
                "of one layer.",
                before=before,
                layer=before.layer,
                after=after,
                layer2=after.layer,
            )
        )
    left, right = (dict(one.items.values_list("item_id", "sha256")) for one in (before, after))
    names = sorted(left.keys() | right.keys())
    differing = [name for name in names if left.get(name) != right.get(name)]
    found = (
        changed(name, _document(before, name, left), _document(after, name, right))
        for name in differing
    )
    items = [item for item in found if item]
    return ReleaseDiff(before, after, items, len(names) - len(items))


def _document(release: GoldRelease, name: str, known: dict[str, str]) -> dict[str, Any] | None:
    if name not in known:
        return None
    document: dict[str, Any] = json.loads(
        release.items.values_list("canonical", flat=True).get(item_id=name)
    )
    return document


def _named(release: GoldRelease) -> dict[str, Any]:
    return {"release": str(release), "layer": release.layer, "sha256": release.sha256}
