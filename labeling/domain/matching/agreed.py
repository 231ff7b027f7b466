"""The words of a label that several people hold in versions of their own."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from itertools import combinations
from typing import Any

from labeling.domain.canonical import canonical_json
from labeling.domain.matching.matchers import match_parts
from labeling.domain.matching.matching import Match, Record
from labeling.domain.matching.places import first_place
from labeling.domain.schema import LAYERS, form_fields
from labeling.domain.schema.layers import Judged

Place = tuple[str, int]
"""An annotator and the position of one of their labels."""


def gathered(
    labels: Mapping[str, Sequence[Record]],
    match: Callable[[Sequence[Record], Sequence[Record]], list[Match]],
) -> list[list[Place]]:
    """Join matched labels, most similar first, unless an annotator would be in it twice."""
    cluster_of = {
        (person, position): {person: position}
        for person, given in labels.items()
        for position in range(len(given))
    }
    for _, left, right in _links(labels, match):
        first, second = cluster_of[left], cluster_of[right]
        if first is not second and not first.keys() & second.keys():
            first |= second
            cluster_of |= dict.fromkeys(second.items(), first)
    distinct = {id(cluster): cluster for cluster in cluster_of.values()}
    return [sorted(cluster.items()) for cluster in distinct.values()]


def _links(
    labels: Mapping[str, Sequence[Record]],
    match: Callable[[Sequence[Record], Sequence[Record]], list[Match]],
) -> list[tuple[float, Place, Place]]:
    return sorted(
        (-found.similarity, (a, found.left), (b, found.right))
        for a, b in combinations(labels, 2)
        for found in match(labels[a], labels[b])
    )


def agreed_label(layer: str, held: Mapping[str, Record], chosen: str) -> dict[str, Any]:
    """The label that stands for those of its holders.

    The words are those of ``chosen``. Messages, references, arguments and phases are those that
    a strict majority of the holders have, and a choice is what most of them chose; where there
    is no such majority, the chosen holder's own.
    """
    label = dict(held[chosen])
    for name, widget, many in _fields(layer):
        if name not in label:
            continue
        if widget in ("messages", "references") and (widget == "messages" or many):
            label[name] = _most_named([one.get(name) or [] for one in held.values()], label[name])
        elif widget == "choice":
            label[name] = _most_chosen([one.get(name) for one in held.values()], label[name])
        elif widget in _PARTS:
            parts = {person: one.get(name) or [] for person, one in held.items()}
            label[name] = _PARTS[widget](parts, chosen)
    return label


def support(layer: str, held: Mapping[str, Record], label: Record) -> int:
    """How many of the holders stand behind what the agreed label says.

    Where the layer is about a value (a rating), those with that value do. A label with fewer
    parts that most of them have than it needs (a narrative of one phase) is nobody's.
    """
    units = LAYERS[layer].units
    if isinstance(units, Judged) and units.value:
        return sum(one.get(units.value) == label.get(units.value) for one in held.values())
    if any(len(label.get(name) or []) < at_least for name, at_least in _parts(layer)):
        return 0
    return len(held)


@cache
def _parts(layer: str) -> tuple[tuple[str, int], ...]:
    """The fields whose parts are put together from several people's, and how many they need."""
    fields = form_fields(layer)
    return tuple((one["name"], one["at_least"]) for one in fields if one["widget"] in _PARTS)


@cache
def _fields(layer: str) -> tuple[tuple[str, str, bool], ...]:
    return tuple((one["name"], one["widget"], one["many"]) for one in form_fields(layer))


def _most_named(given: Sequence[Sequence[Any]], own: Sequence[Any] | None) -> list[Any]:
    counts = Counter(item for one in given for item in set(one))
    majority = [item for item, count in counts.items() if 2 * count > len(given)]
    return sorted(majority or set(own or ()))


def _most_chosen(given: Sequence[Any], own: Any) -> Any:
    value, count = Counter(given).most_common(1)[0]
    return value if 2 * count > len(given) else own


def _arguments(parts: Mapping[str, Sequence[Record]], chosen: str) -> list[dict[str, Any]]:
    found = [_version(one, parts, chosen) for one in _of_most(parts, "arguments")]
    return sorted(map(dict, found), key=canonical_json)


def _phases(parts: Mapping[str, Sequence[Record]], chosen: str) -> list[dict[str, Any]]:
    """In the chosen holder's order; what they do not tell stands where it happened."""
    own = parts[chosen]
    found = []
    for cluster in _of_most(parts, "phases"):
        versions = [parts[person][at] for person, at in cluster]
        words = _version(cluster, parts, chosen)
        evidence = _most_named([one.get("evidence") or [] for one in versions], words["evidence"])
        phase = {**words, "evidence": evidence}
        at = dict(cluster).get(chosen, _place_among(phase, own))
        found.append((at, first_place(phase), phase))
    return [phase for _, _, phase in sorted(found, key=lambda one: (one[0], one[1]))]


def _of_most(parts: Mapping[str, Sequence[Record]], kind: str) -> list[list[Place]]:
    clusters = gathered(parts, lambda left, right: match_parts(kind, left, right))
    return [cluster for cluster in clusters if 2 * len(cluster) > len(parts)]


def _version(
    cluster: Sequence[Place], parts: Mapping[str, Sequence[Record]], chosen: str
) -> Record:
    """The chosen holder's version, else that of the first by name."""
    places = dict(cluster)
    person = chosen if chosen in places else min(places)
    return parts[person][places[person]]


def _place_among(phase: Record, own: Sequence[Record]) -> float:
    """Before the first of the own phases that begins later."""
    begins = first_place(phase)
    later = (at for at, one in enumerate(own) if first_place(one) > begins)
    return next(later, len(own)) - 0.5


_PARTS = {"arguments": _arguments, "phases": _phases}
