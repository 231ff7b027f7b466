"""What the annotators of a round marked differently, and letters in place of their names."""

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import Any, Self

from labeling.agreement.matching.candidates import candidates
from labeling.agreement.matching.consensus import clusters
from labeling.agreement.matching.matchers import Rules
from labeling.agreement.matching.matching import Match, cited_by
from labeling.agreement.rules.units import Base, Units, concerned, slots_of, units_of_label
from labeling.domain.stored import Stored, as_json, read
from labeling.schema import LAYERS

Payloads = Mapping[str, Mapping[str, Any]]
"""What each annotator of a conversation submitted."""


@dataclass(frozen=True, slots=True)
class SplitCandidate:
    """Labels of ``a`` and ``b`` that are perhaps the same, and the fields in which they differ."""

    a: str
    b: str
    a_uid: str
    b_uid: str
    differs: list[str]


@dataclass(frozen=True, slots=True)
class Split:
    """One unit on which the annotators differ, and what each of them says of it.

    ``unit`` is its position among those of the conversation; of messages, the message. ``name``
    says what it is where it is not a message; ``message`` is where to read on; ``uids`` are
    the labels that say it, by annotator, where the message alone does not show them.
    ``candidates`` are pairs of labels about the unit that are perhaps the same. With them, people
    may differ on a unit that all have marked: by what they wrote.
    """

    conversation: str
    unit: int
    labels: dict[str, Hashable]
    name: str = ""
    message: int | None = None
    uids: dict[str, list[str]] = field(default_factory=dict)
    candidates: list[SplitCandidate] = field(default_factory=list)

    def as_json(self) -> Stored:
        stored = as_json(self)
        return {"given": stored.pop("labels"), **stored}

    @classmethod
    def from_json(cls, stored: Stored) -> Self:
        return read(cls, {"labels": stored["given"], **stored})


def splits_of(
    layer: str, conversation: str, payloads: Payloads, compared: Units, base: Base = ()
) -> list[Split]:
    """The units of one conversation and layer that were labeled differently, in their order.

    ``base`` are the judged labels that the units ``compared`` are about
    (:mod:`labeling.agreement.rules.units`). Who could not judge a unit is not part of it.

    Examples
    --------
    >>> compared = Units(["0", "1", "2"], {"ana": [1, 0, 1], "ben": [1, 1, None]})
    >>> [(split.unit, split.labels) for split in splits_of("extraction", "c1", {}, compared)]
    [(1, {'ana': 0, 'ben': 1})]
    """
    said = enumerate(zip(*compared.labels.values(), strict=True))
    return [
        _split(layer, conversation, payloads, compared, base, unit)
        for unit, labels in said
        if len({*labels} - {None}) > 1
    ]


def with_candidates(
    layer: str,
    conversation: str,
    payloads: Payloads,
    compared: Units,
    base: Base,
    divided: Sequence[Split],
    matched: Mapping[tuple[str, str], Sequence[Match]],
) -> list[Split]:
    """The splits of a conversation with the pairs of labels there that are perhaps the same.

    ``matched`` are the labels of each two people that mean the same.

    A pair belongs to the first unit that both labels are about. Where all have marked that, there
    is a split because of what they wrote.
    """
    pairs: dict[int, list[SplitCandidate]] = {}
    for a, b in combinations(sorted(payloads), 2):
        for unit, candidate in _candidates(layer, payloads, base, a, b, matched[a, b]):
            pairs.setdefault(unit, []).append(candidate)
    by_unit = {split.unit: split for split in divided}
    for unit in pairs.keys() - by_unit.keys():
        by_unit[unit] = _split(layer, conversation, payloads, compared, base, unit)
    return [
        replace(split, candidates=pairs.get(unit, [])) for unit, split in sorted(by_unit.items())
    ]


def _candidates(
    layer: str, payloads: Payloads, base: Base, a: str, b: str, matches: Sequence[Match]
) -> Iterator[tuple[int, SplitCandidate]]:
    left, right = (payloads[who].get(LAYERS[layer].key, []) for who in (a, b))
    taken = {match.left for match in matches}, {match.right for match in matches}
    lone_left, lone_right = (
        [label for at, label in enumerate(own) if at not in matched]
        for own, matched in zip((left, right), taken, strict=True)
    )
    if not lone_left or not lone_right:
        return
    places = (
        [frozenset(units_of_label(layer, label, a, base)) for label in lone_left],
        [frozenset(units_of_label(layer, label, b, base)) for label in lone_right],
    )
    for pair in candidates(layer, lone_left, lone_right, places=places):
        common = places[0][pair.left] & places[1][pair.right]
        uids = str(lone_left[pair.left]["uid"]), str(lone_right[pair.right]["uid"])
        yield min(common), SplitCandidate(a, b, *uids, pair.differs)


def _split(
    layer: str, conversation: str, payloads: Payloads, compared: Units, base: Base, unit: int
) -> Split:
    labels = {
        who: own[unit] for who, own in sorted(compared.labels.items()) if own[unit] is not None
    }
    if LAYERS[layer].by_message:
        return Split(conversation, unit, labels, message=unit)
    slots = slots_of(layer)
    return Split(
        conversation,
        unit,
        labels,
        name=compared.names[unit],
        message=min(cited_by(_first(base[unit // slots])), default=None),
        uids=concerned(layer, payloads, base[unit // slots], unit % slots),
    )


def label_splits(layer: str, conversation: str, payloads: Payloads, rules: Rules) -> list[Split]:
    """Of a layer without units: the labels that only some have, by the words that they mark."""
    key, kind = LAYERS[layer].key, LAYERS[layer].type_field
    labels_of = {who: own.get(key, []) for who, own in payloads.items()}
    divided = [
        ({member.annotator: member.label for member in cluster}, cluster[0].label)
        for cluster in clusters(layer, labels_of, rules)
        if len(cluster) < len(labels_of)
    ]
    spans = [label[LAYERS[layer].heading] for _, label in divided]
    order = sorted(range(len(divided)), key=lambda at: (spans[at]["message"], spans[at]["start"]))
    return [
        Split(
            conversation,
            unit,
            {who: int(who in divided[at][0]) for who in sorted(labels_of)},
            name=f"{divided[at][1][kind]}: “{spans[at]['text']}”",
            message=spans[at]["message"],
            uids={who: [str(label["uid"])] for who, label in divided[at][0].items()},
        )
        for unit, at in enumerate(order)
    ]


def _first(cluster: Mapping[str, Any]) -> Mapping[str, Any]:
    label: Mapping[str, Any] = cluster[min(cluster)]
    return label


def letters(keys: Mapping[str, str]) -> dict[str, str]:
    """A letter for each person, in the order of their keys: A, B, …, Z, AA, AB, …

    The keys decide, so that letters say nothing about names and stay the same.

    Examples
    --------
    >>> letters({"ana": "9f", "ben": "03"})
    {'ben': 'A', 'ana': 'B'}
    """
    ordered = sorted(keys, key=lambda person: (keys[person], person))
    return {person: _letter(position) for position, person in enumerate(ordered)}


def _letter(position: int) -> str:
    before, last = divmod(position, 26)
    return (_letter(before - 1) if before else "") + chr(ord("A") + last)
