"""What the annotators of a round marked differently, and letters in place of their names."""

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from labeling.domain.agreement.ratings import Ratings
from labeling.domain.agreement.units import Units, concerned, slots_of
from labeling.domain.matching.consensus import clusters
from labeling.domain.matching.places import cited_by
from labeling.domain.matching.similarity import Ruler
from labeling.domain.schema import LAYERS

Payloads = Mapping[str, Mapping[str, Any]]
"""What each annotator of a conversation submitted."""


@dataclass(frozen=True, slots=True)
class Split:
    """One unit on which the annotators differ, and what each of them says of it.

    ``unit`` is its position among those of the conversation; of messages, the message. ``name``
    says what it is where it is no message; ``message`` is where to read on; ``uids`` are the labels
    that say it, by annotator, where the message alone does not tell them.
    """

    conversation: str
    unit: int
    given: dict[str, Hashable]
    name: str = ""
    message: int | None = None
    uids: dict[str, list[str]] = field(default_factory=dict)

    @property
    def marked(self) -> tuple[str, ...]:
        return tuple(person for person, label in self.given.items() if label)

    @property
    def unmarked(self) -> tuple[str, ...]:
        return tuple(person for person, label in self.given.items() if not label)

    def divides(self, a: str, b: str) -> bool:
        """Whether the two say different things of it."""
        return a in self.given and b in self.given and self.given[a] != self.given[b]


def splits(ratings: Mapping[str, Ratings], order: Sequence[str]) -> list[Split]:
    """The units that were not marked alike, in the order of the conversations given.

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
    >>> found = splits({"ana": {"c1": [1, 0, 1]}, "ben": {"c1": [1, 1, 0]}}, ["c1"])
    >>> [(one.unit, one.marked, one.unmarked) for one in found]
    [(1, ('ben',), ('ana',)), (2, ('ana',), ('ben',))]
    """
    return [
        Split(name, unit, given, message=unit)
        for name in order
        for unit, given in _units(ratings, name)
        if len(set(given.values())) > 1
    ]


def splits_of(
    layer: str,
    conversation: str,
    payloads: Payloads,
    found: Units,
    base: Sequence[Mapping[str, Any]] = (),
) -> list[Split]:
    """The same of one conversation and layer, with what is needed to show it.

    ``base`` are the judged labels that ``found`` was made from
    (:mod:`labeling.domain.agreement.units`).
    """
    ratings = {who: {conversation: labels} for who, labels in found.labels.items()}
    divided = splits(ratings, [conversation])
    if LAYERS[layer].by_message:
        return divided
    slots = slots_of(layer)
    return [
        replace(
            one,
            name=found.names[one.unit],
            message=min(cited_by(_first(base[one.unit // slots])), default=None),
            uids=concerned(layer, payloads, base[one.unit // slots], one.unit % slots),
        )
        for one in divided
    ]


def label_splits(layer: str, conversation: str, payloads: Payloads, *, ruler: Ruler) -> list[Split]:
    """Of a layer without units: the labels that only some have, by the words that they mark."""
    key, kind = LAYERS[layer].key, LAYERS[layer].type_field
    given = {who: own.get(key, []) for who, own in payloads.items()}
    divided = [
        ({held.annotator: held.label for held in cluster}, cluster[0].label)
        for cluster in clusters(given, ruler=ruler, layer=layer)
        if len(cluster) < len(given)
    ]
    spans = [label[LAYERS[layer].heading] for _, label in divided]
    order = sorted(range(len(divided)), key=lambda at: (spans[at]["message"], spans[at]["start"]))
    return [
        Split(
            conversation,
            unit,
            {who: int(who in divided[at][0]) for who in sorted(given)},
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

    The keys decide, so that letters tell nothing about names and stay the same.

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
