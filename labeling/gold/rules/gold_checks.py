"""An answer to a check compared with the gold: what was found, missed and added."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import fsum
from typing import Any, TypedDict

from labeling.agreement.matching.matchers import Rules, match_labels
from labeling.agreement.matching.matching import f1
from labeling.agreement.matching.references import Base, heading_of, in_terms_of
from labeling.schema import LAYERS

Labels = Sequence[Mapping[str, Any]]
Payload = Mapping[str, Any]

PEOPLE = frozenset({"username", "by", "adjudicated_by", "accepted_by", "fixed_by", "decided_by"})
"""The keys of an item's provenance that hold names."""


class NamedLabel(TypedDict):
    uid: str
    heading: str


class CheckFigures(TypedDict):
    """One layer of an answer against gold, as plain JSON.

    ``f1`` is over the labels by the one matcher, from the counts ``matched``, ``gold`` and
    ``own``. ``missed`` are labels of gold alone, ``extra`` labels of the answer alone.
    """

    f1: float
    matched: int
    gold: int
    own: int
    missed: list[NamedLabel]
    extra: list[NamedLabel]


def compare(layer: str, gold: Payload, own: Payload, *, rules: Rules) -> CheckFigures:
    """One layer of an answer against gold.

    Parameters
    ----------
    gold, own
        By the layers' keys; with the labels that those of the layer refer to.
    """
    key = LAYERS[layer].key
    right: Labels = gold.get(key, [])
    base, own_labels = _in_common_terms(layer, gold, own, rules)
    matches = match_labels(layer, right, own_labels, rules)
    found_positions = {match.left for match in matches}
    matched_uids = {str(own_labels[match.right].get("uid")) for match in matches}
    answered: Labels = own.get(key, [])
    return {
        "f1": f1(len(matches), len(right), len(answered)),
        "matched": len(matches),
        "gold": len(right),
        "own": len(answered),
        "missed": [
            _named(layer, label, base.labels)
            for position, label in enumerate(right)
            if position not in found_positions
        ],
        "extra": [
            _named(layer, label, _by_uid(layer, own))
            for label in answered
            if str(label.get("uid")) not in matched_uids
        ],
    }


def mean(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return fsum(known) / len(known) if known else None


def people_in(provenance: Any) -> set[str]:
    """Everybody who had a hand in a gold item: who answered, skipped, decided or corrected it."""
    if isinstance(provenance, list):
        return set().union(*map(people_in, provenance))
    if not isinstance(provenance, Mapping):
        return set()
    named = (_names(value) for key, value in provenance.items() if key in PEOPLE)
    return set().union(*named, *map(people_in, provenance.values()))


def _names(value: Any) -> set[str]:
    if isinstance(value, list):
        return {name for name in value if isinstance(name, str)}
    return set(value.split(", ")) if isinstance(value, str) else set()


def _in_common_terms(layer: str, gold: Payload, own: Payload, rules: Rules) -> tuple[Base, Labels]:
    """The labels of the answer, referring to those labels of gold that match their own."""
    base, labels = Base(), own.get(LAYERS[layer].key, [])
    needs = [name for name in LAYERS[layer].needs if gold.get(LAYERS[name].key)]
    for name in needs:
        key = LAYERS[name].key
        theirs = own.get(key, [])
        matched = {
            match.left: match.right for match in match_labels(name, gold[key], theirs, rules)
        }
        for position, label in enumerate(gold[key]):
            at = matched.get(position)
            base.add(label, {"own": str(theirs[at]["uid"]) if at is not None else None})
    return base, in_terms_of(base, layer, labels, "own").labels if needs else labels


def _by_uid(layer: str, payload: Payload) -> dict[str, Mapping[str, Any]]:
    """What the labels of the layer may refer to."""
    keys = [LAYERS[name].key for name in LAYERS[layer].needs]
    return {str(label.get("uid")): label for key in keys for label in payload.get(key, [])}


def _named(
    layer: str, label: Mapping[str, Any], named: Mapping[str, Mapping[str, Any]]
) -> NamedLabel:
    return {"uid": str(label.get("uid", "")), "heading": heading_of(layer, label, named)}
