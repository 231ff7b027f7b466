"""Two labels that are perhaps the same, field by field, for reading."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from labeling.agreement.rules.disagreements import SplitCandidate
from labeling.conversations.views.labels import Row, field_row
from labeling.schema import LAYERS, form_fields
from labeling.schema.layers import REMARKS
from labeling.translation import translated


class FieldPair(NamedTuple):
    """One field in which the two differ."""

    left: Row
    right: Row


class ShownCandidate(NamedTuple):
    """``same`` names the fields in which both say the same."""

    left: str
    right: str
    left_title: str
    right_title: str
    rows: list[FieldPair]
    same: list[str]


def shown_candidates(
    layer: str,
    pairs: Sequence[SplitCandidate],
    payloads: Mapping[str, Mapping[str, Any]],
) -> list[ShownCandidate]:
    """``payloads`` are by annotator; a pair of which a label is gone since is left out."""
    return [
        _shown(layer, pair, a, b, payloads)
        for pair in pairs
        if (a := _label(layer, payloads, pair.a, pair.a_uid))
        and (b := _label(layer, payloads, pair.b, pair.b_uid))
    ]


def _label(
    layer: str, payloads: Mapping[str, Mapping[str, Any]], who: str, uid: str
) -> Mapping[str, Any] | None:
    labels = payloads.get(who, {}).get(LAYERS[layer].key, [])
    return next((label for label in labels if label.get("uid") == uid), None)


def _shown(
    layer: str,
    pair: SplitCandidate,
    a: Mapping[str, Any],
    b: Mapping[str, Any],
    payloads: Mapping[str, Mapping[str, Any]],
) -> ShownCandidate:
    heading = LAYERS[layer].heading
    fields = [field for field in form_fields(layer) if field["name"] not in REMARKS]
    return ShownCandidate(
        left=pair.a,
        right=pair.b,
        left_title=field_row(layer, a, heading, payloads[pair.a]).text,
        right_title=field_row(layer, b, heading, payloads[pair.b]).text,
        rows=[
            FieldPair(
                field_row(layer, a, field["name"], payloads[pair.a]),
                field_row(layer, b, field["name"], payloads[pair.b]),
            )
            for field in fields
            if field["name"] in pair.differs
        ],
        same=[
            translated(field["label"])
            for field in fields
            if field["name"] not in pair.differs and (a.get(field["name"]) or b.get(field["name"]))
        ],
    )
