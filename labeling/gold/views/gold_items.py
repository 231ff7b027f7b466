"""Gold items for reading: in a list, and one item with who had each label and who didn't."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from labeling.agreement.matching.consensus import Dissent
from labeling.conversations.views.labels import Label, field_row, labels_of, turns
from labeling.gold import pseudonyms
from labeling.gold.rules.content import LabelCorrection, LabelOrigin, Provenance
from labeling.models import GoldItem
from labeling.schema import LAYERS
from labeling.schema.labels import Payload
from labeling.schema.targets import stages_of


def described(item: GoldItem, names: pseudonyms.Names) -> dict[str, Any]:
    """What the page of an item shows; ``names`` is by pseudonym, for who may see them."""
    document = pseudonyms.content_of(item, names)
    provenance = document["provenance"]
    layers = stages_of(document["layer"])
    base = document.get("given", {})
    given = [name for name, layer in LAYERS.items() if layer.key in base]
    known = {**base, **document["gold"]}  # what labels may refer to
    labels = labels_of(known, layers, prefix="gold")
    return {
        "document": document,
        "provenance": provenance,
        "labels": [_gold_label(label, provenance, known) for label in labels],
        "given": labels_of(known, given, prefix="given"),
        "turns": turns(document["conversation"], [labels]),
    }


def _gold_label(label: Label, provenance: Provenance, known: Payload) -> dict[str, Any]:
    """A label with where it comes from; ``before`` is the label as it was, if it was corrected."""
    unknown: LabelOrigin = {"how": "", "by": []}
    origin = provenance.get("labels", {}).get(label.uid, unknown)
    correction = _correction(label, provenance)
    return {
        **origin,
        "label": label,
        "dissent": [_dissent(row, label.layer, known) for row in origin.get("dissent", [])],
        "correction": correction,
        "before": _before(label, correction, known),
    }


def _correction(label: Label, provenance: Provenance) -> LabelCorrection | None:
    """The newest one, if it was decided anew."""
    rows = provenance.get("corrections", [])
    same = [row for row in rows if (row["layer"], row["uid"]) == (label.layer, label.uid)]
    return same[-1] if same else None


def _before(label: Label, correction: LabelCorrection | None, known: Payload) -> list[Label]:
    if correction is None or correction["before"] is None:
        return []
    key = LAYERS[label.layer].key
    prefix = f"before-{label.uid}"
    return labels_of({**known, key: [correction["before"]]}, [label.layer], prefix=prefix)


def _dissent(row: Dissent, layer: str, known: Mapping[str, Any]) -> dict[str, Any]:
    """Somebody who didn't have this label (``label`` None), or worded it differently."""
    rows = [field_row(layer, row["label"] or {}, name, known) for name in row["differs"]]
    return {**row, "differing": [each._replace(name=each.name.lower()) for each in rows]}
