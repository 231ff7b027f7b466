"""What two gold releases do not share, item by item and label by label."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, NamedTuple, TypedDict, cast

from labeling.domain.gold.content import GoldContent
from labeling.domain.matching.diffing import difference
from labeling.domain.matching.references import heading_of
from labeling.domain.schema import LAYERS

ChangeKind = Literal["added", "removed", "changed"]


class LabelChanged(NamedTuple):
    """A label that only one release has, or that has other fields in the other one."""

    kind: ChangeKind
    layer: str
    uid: str
    title: str
    fields: list[str]


class LabelChangeRow(TypedDict):
    """A :class:`LabelChanged` as plain JSON."""

    kind: ChangeKind
    layer: str
    uid: str
    title: str
    fields: list[str]


class ItemChangeRow(TypedDict):
    """An :class:`ItemChanged` as plain JSON."""

    item_id: str
    kind: ChangeKind
    how: list[str] | None
    text: bool
    split: list[str] | None
    labels: list[LabelChangeRow]


@dataclass(frozen=True, slots=True)
class ItemChanged:
    """``text`` says that the conversation itself differs; ``how`` and ``split`` have both if they
    differ.
    """

    item_id: str
    kind: ChangeKind
    labels: list[LabelChanged] = field(default_factory=list)
    how: tuple[str, str] | None = None
    text: bool = False
    split: tuple[str, str] | None = None

    def as_json(self) -> ItemChangeRow:
        return {
            "item_id": self.item_id,
            "kind": self.kind,
            "how": list(self.how) if self.how else None,
            "text": self.text,
            "split": list(self.split) if self.split else None,
            "labels": [cast(LabelChangeRow, label._asdict()) for label in self.labels],
        }


def changed(
    item_id: str, before: GoldContent | None, after: GoldContent | None
) -> ItemChanged | None:
    """What happened to one item between two releases; None if nothing did.

    Labels are the same label when they have the same uid. A label whose words were taken from
    somebody else since is therefore removed and added.
    """
    if before is None or after is None:
        return ItemChanged(item_id, "added" if before is None else "removed")
    change = ItemChanged(
        item_id,
        "changed",
        labels=_labels(before, after),
        how=_both(before["provenance"]["how"], after["provenance"]["how"]),
        text=before["conversation"] != after["conversation"],
        split=_both(before.get("split") or "", after.get("split") or ""),
    )
    return change if change.labels or change.how or change.text or change.split else None


def _labels(before: GoldContent, after: GoldContent) -> list[LabelChanged]:
    layers = {layer.key: layer.name for layer in LAYERS.values()}
    known = {
        str(label["uid"]): label
        for item in (before, after)
        for labels in [*item.get("given", {}).values(), *item["gold"].values()]
        for label in labels
    }
    return [
        LabelChanged(
            change.kind,
            layers[change.layer_key],
            change.uid,
            heading_of(layers[change.layer_key], change.label, known),
            [field_change.name for field_change in change.fields],
        )
        for change in difference(before["gold"], after["gold"]).labels
    ]


def _both(before: str, after: str) -> tuple[str, str] | None:
    return (before, after) if before != after else None
