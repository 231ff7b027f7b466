"""The words of a label of which several people have different versions."""

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
from labeling.domain.schema.labels import StoredLabel
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
        for person, own_labels in labels.items()
        for position in range(len(own_labels))
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
        (-match_.similarity, (a, match_.left), (b, match_.right))
        for a, b in combinations(labels, 2)
        for match_ in match(labels[a], labels[b])
    )


def agreed_label(layer: str, holders: Mapping[str, Record], chosen: str) -> StoredLabel:
    """The one label for those of its holders.

    The words are those of ``chosen``. Messages, references, arguments and phases are those that
    a strict majority of the holders have, and a choice is what most of them chose; where there
    is not such a majority, the chosen holder's own.
    """
    label = dict(holders[chosen])
    for name, widget, many in _fields(layer):
        if name not in label:
            continue
        if widget in ("messages", "references") and (widget == "messages" or many):
            label[name] = _most_named(
                [own.get(name) or [] for own in holders.values()], label[name]
            )
        elif widget == "choice":
            label[name] = _most_chosen([own.get(name) for own in holders.values()], label[name])
        elif widget in _PARTS:
            parts = {person: own.get(name) or [] for person, own in holders.items()}
            label[name] = _PARTS[widget](parts, chosen)
    return label


def support(layer: str, holders: Mapping[str, Record], label: Record) -> int:
    """How many of the holders say what the agreed label says.

    Where the layer is about a value (a rating), those with that value do. A label with fewer
    parts that most of them have than it needs (a narrative of one phase) is held by none of them.
    """
    units = LAYERS[layer].units
    if isinstance(units, Judged) and units.value:
        return sum(own.get(units.value) == label.get(units.value) for own in holders.values())
    if any(len(label.get(name) or []) < at_least for name, at_least in _parts(layer)):
        return 0
    return len(holders)


@cache
def _parts(layer: str) -> tuple[tuple[str, int], ...]:
    """The fields whose parts are put together from several people's, and how many they need."""
    fields = form_fields(layer)
    return tuple(
        (field["name"], field["at_least"]) for field in fields if field["widget"] in _PARTS
    )


@cache
def _fields(layer: str) -> tuple[tuple[str, str, bool], ...]:
    return tuple((field["name"], field["widget"], field["many"]) for field in form_fields(layer))


def _most_named(choices: Sequence[Sequence[Any]], own: Sequence[Any] | None) -> list[Any]:
    counts = Counter(item for named in choices for item in set(named))
    majority = [item for item, count in counts.items() if 2 * count > len(choices)]
    return sorted(majority or set(own or ()))


def _most_chosen(choices: Sequence[Any], own: Any) -> Any:
    value, count = Counter(choices).most_common(1)[0]
    return value if 2 * count > len(choices) else own


def _arguments(parts: Mapping[str, Sequence[Record]], chosen: str) -> list[StoredLabel]:
    arguments = [_version(cluster, parts, chosen) for cluster in _of_most(parts, "arguments")]
    return sorted(map(dict, arguments), key=canonical_json)


def _phases(parts: Mapping[str, Sequence[Record]], chosen: str) -> list[StoredLabel]:
    """In the chosen holder's order; a phase that they do not have goes where it happened."""
    own = parts[chosen]
    phases = []
    for cluster in _of_most(parts, "phases"):
        versions = [parts[person][at] for person, at in cluster]
        words = _version(cluster, parts, chosen)
        evidence = _most_named(
            [version.get("evidence") or [] for version in versions], words["evidence"]
        )
        phase = {**words, "evidence": evidence}
        at = dict(cluster).get(chosen, _place_among(phase, own))
        phases.append((at, first_place(phase), phase))
    return [phase for _, _, phase in sorted(phases, key=lambda row: (row[0], row[1]))]


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
    later = (at for at, own_phase in enumerate(own) if first_place(own_phase) > begins)
    return next(later, len(own)) - 0.5


_PARTS = {"arguments": _arguments, "phases": _phases}
