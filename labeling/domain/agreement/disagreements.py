"""What the annotators of a round marked differently, and letters in place of their names."""

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Self, TypedDict

from labeling.domain.agreement.ratings import Ratings
from labeling.domain.agreement.units import Units, concerned, slots_of
from labeling.domain.matching.consensus import clusters
from labeling.domain.matching.places import cited_by
from labeling.domain.matching.similarity import Ruler
from labeling.domain.schema import LAYERS

Payloads = Mapping[str, Mapping[str, Any]]
"""What each annotator of a conversation submitted."""


class StoredSplit(TypedDict):
    """A split as plain JSON."""

    conversation: str
    unit: int
    given: dict[str, Hashable]
    name: str
    message: int | None
    uids: dict[str, list[str]]


@dataclass(frozen=True, slots=True)
class Split:
    """One unit on which the annotators differ, and what each of them says of it.

    ``unit`` is its position among those of the conversation; of messages, the message. ``name``
    says what it is where it is not a message; ``message`` is where to read on; ``uids`` are
    the labels that say it, by annotator, where the message alone does not show them.
    """

    conversation: str
    unit: int
    labels: dict[str, Hashable]
    name: str = ""
    message: int | None = None
    uids: dict[str, list[str]] = field(default_factory=dict)

    @property
    def marked(self) -> tuple[str, ...]:
        return tuple(person for person, label in self.labels.items() if label)

    @property
    def unmarked(self) -> tuple[str, ...]:
        return tuple(person for person, label in self.labels.items() if not label)

    def as_json(self) -> StoredSplit:
        return {
            "conversation": self.conversation,
            "unit": self.unit,
            "given": self.labels,
            "name": self.name,
            "message": self.message,
            "uids": self.uids,
        }

    @classmethod
    def from_json(cls, stored: StoredSplit) -> Self:
        return cls(
            conversation=stored["conversation"],
            unit=stored["unit"],
            labels=stored["given"],
            name=stored["name"],
            message=stored["message"],
            uids=stored["uids"],
        )

    def divides(self, a: str, b: str) -> bool:
        """Whether the two say different things of it."""
        return a in self.labels and b in self.labels and self.labels[a] != self.labels[b]


def splits(ratings: Mapping[str, Ratings], order: Sequence[str]) -> list[Split]:
    """The units that were labelled differently, in the order of ``order``.

    Parameters
    ----------
    ratings
        By annotator and conversation, the label of each unit in order, None where somebody
        could not judge it.
    order
        The conversations to look at. One that fewer than two annotators submitted
        has nothing to compare.

    Examples
    --------
    >>> divided = splits({"ana": {"c1": [1, 0, 1]}, "ben": {"c1": [1, 1, 0]}}, ["c1"])
    >>> [(split.unit, split.marked, split.unmarked) for split in divided]
    [(1, ('ben',), ('ana',)), (2, ('ana',), ('ben',))]
    """
    return [
        Split(name, unit, labels, message=unit)
        for name in order
        for unit, labels in _units(ratings, name)
        if len(set(labels.values())) > 1
    ]


def splits_of(
    layer: str,
    conversation: str,
    payloads: Payloads,
    compared: Units,
    base: Sequence[Mapping[str, Any]] = (),
) -> list[Split]:
    """The same of one conversation and layer, with what is needed to show it.

    ``base`` are the judged labels that the units ``compared`` are about
    (:mod:`labeling.domain.agreement.units`).
    """
    ratings = {who: {conversation: labels} for who, labels in compared.labels.items()}
    divided = splits(ratings, [conversation])
    if LAYERS[layer].by_message:
        return divided
    slots = slots_of(layer)
    return [
        replace(
            split,
            name=compared.names[split.unit],
            message=min(cited_by(_first(base[split.unit // slots])), default=None),
            uids=concerned(layer, payloads, base[split.unit // slots], split.unit % slots),
        )
        for split in divided
    ]


def label_splits(layer: str, conversation: str, payloads: Payloads, *, ruler: Ruler) -> list[Split]:
    """Of a layer without units: the labels that only some have, by the words that they mark."""
    key, kind = LAYERS[layer].key, LAYERS[layer].type_field
    labels_of = {who: own.get(key, []) for who, own in payloads.items()}
    divided = [
        ({member.annotator: member.label for member in cluster}, cluster[0].label)
        for cluster in clusters(labels_of, ruler=ruler, layer=layer)
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


def _units(ratings: Mapping[str, Ratings], name: str) -> Iterable[tuple[int, dict[str, Hashable]]]:
    """Each unit of a conversation with the label that each who could judge it gave."""
    people = [person for person in sorted(ratings) if name in ratings[person]]
    rows = zip(*(ratings[person][name] for person in people), strict=True)
    return ((unit, dict(_judged(people, row))) for unit, row in enumerate(rows))


def _judged(people: Sequence[str], row: Sequence[Hashable]) -> Iterator[tuple[str, Hashable]]:
    pairs = zip(people, row, strict=True)
    return ((person, label) for person, label in pairs if label is not None)


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
