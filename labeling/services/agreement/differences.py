"""What two annotators of a round see differently."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any, NamedTuple

from labeling.domain.agreement.disagreements import SplitCandidate
from labeling.domain.matching.matching import match_events
from labeling.domain.schema import LAYERS
from labeling.models import Round
from labeling.services.agreement import measurements
from labeling.services.agreement.agreement import Labels, labels_of
from labeling.services.agreement.answers import EVERYTHING, Selection
from labeling.services.agreement.conversations import splits_in


class PairDifference(NamedTuple):
    """One unit, or one event, that two annotators see differently."""

    conversation: str
    unit: str
    left: Hashable
    right: Hashable


def differences(
    measured: Round, a: str, b: str, layer: str, selection: Selection = EVERYTHING
) -> list[PairDifference]:
    """What lowers the agreement of one pair, in the order of the round."""
    if not LAYERS[layer].has_units:
        return _label_differences(layer, labels_of(measured, layer, selection), a, b)
    measurements.refuse_unmeasured(measured, layer, selection)
    return [
        PairDifference(
            split.conversation, split.name or str(split.unit), split.labels[a], split.labels[b]
        )
        for _, split in splits_in(measured, layer, selection)
        if split.divides(a, b)
    ]


class PerhapsSame(NamedTuple):
    """Labels of two annotators in one conversation that are perhaps the same."""

    conversation: str
    pair: SplitCandidate


def perhaps_same(
    measured: Round, a: str, b: str, layer: str, selection: Selection = EVERYTHING
) -> list[PerhapsSame]:
    """In the order of the round; the labels of ``a`` first."""
    measurements.refuse_unmeasured(measured, layer, selection)
    pairs = (
        (split.conversation, pair)
        for _, split in splits_in(measured, layer, selection)
        for pair in split.candidates
    )
    return [
        PerhapsSame(conversation, pair if pair.a == a else pair.turned)
        for conversation, pair in pairs
        if {pair.a, pair.b} == {a, b}
    ]


def _label_differences(layer: str, labels: Labels, a: str, b: str) -> list[PairDifference]:
    """The labels that only one of the two has."""
    only_one_has = []
    left, right = labels.get(a, {}), labels.get(b, {})
    for name in sorted(left.keys() & right.keys()):
        matches = match_events(left[name], right[name])
        for side, own, seen in (
            (0, left[name], {match.left for match in matches}),
            (1, right[name], {match.right for match in matches}),
        ):
            only_one_has += [
                PairDifference(name, _name(layer, label), int(side == 0), int(side == 1))
                for position, label in enumerate(own)
                if position not in seen
            ]
    return only_one_has


def _name(layer: str, label: Mapping[str, Any]) -> str:
    words = label[LAYERS[layer].heading]
    return f"{label[LAYERS[layer].type_field]}: “{words['text']}” in message {words['message']}"
