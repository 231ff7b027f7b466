"""The words of a label of which several people have different versions, field by field."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from itertools import combinations
from typing import Any, NamedTuple

from labeling.agreement.matching.matchers import Rules, match_parts, sameness
from labeling.agreement.matching.matching import Match, Record, first_place
from labeling.domain.canonical import canonical_json
from labeling.schema import compared_fields
from labeling.schema.forms import FormField
from labeling.schema.labels import StoredLabel
from labeling.schema.sameness import bare

Place = tuple[str, int]
"""An annotator and the position of one of their labels."""

Versions = Mapping[str, Any]
"""By holder, what they say in one field."""


def gathered(
    labels: Mapping[str, Sequence[Any]],
    match: Callable[[Sequence[Any], Sequence[Any]], list[Match]],
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
    labels: Mapping[str, Sequence[Any]],
    match: Callable[[Sequence[Any], Sequence[Any]], list[Match]],
) -> list[tuple[float, Place, Place]]:
    return sorted(
        (-match_.similarity, (a, match_.left), (b, match_.right))
        for a, b in combinations(labels, 2)
        for match_ in match(labels[a], labels[b])
    )


class AgreedLabel(NamedTuple):
    """One label for those of its holders.

    ``fields`` has the compared fields in which not all holders say the same, with those who say
    what stands. ``tied`` are those of them in which no strict majority does: what the label has
    there is the chosen holder's, and nothing that anybody agreed on.
    """

    label: StoredLabel
    fields: dict[str, list[str]]
    tied: list[str]


def agreed_label(
    layer: str, holders: Mapping[str, Record], chosen: str, rules: Rules
) -> AgreedLabel:
    """What a strict majority of the holders says, field by field.

    Messages, references, criteria, arguments and phases are decided one by one. The words of a
    text are the chosen holder's, if a majority means the same by theirs.
    """
    agreed = AgreedLabel(dict(holders[chosen]), {}, [])
    for field in compared_fields(layer):
        name = field["name"]
        values = {person: own.get(name) for person, own in holders.items()}
        vote = _vote(layer, field, values, chosen, rules)
        if name in agreed.label or vote.value is not None:
            agreed.label[name] = vote.value
        if len(vote.by) < len(holders):
            agreed.fields[name] = vote.by
        if vote.is_tied:
            agreed.tied.append(name)
    return agreed


class _Vote(NamedTuple):
    """What stands in a field, and who says just that."""

    value: Any
    by: list[str]
    is_tied: bool


def _vote(layer: str, field: FormField, values: Versions, chosen: str, rules: Rules) -> _Vote:
    vote = _as_a_whole(values, chosen, sameness(layer, field, rules))
    if len(vote.by) < len(values) and (field["many"] or field["widget"] in _PARTS):
        own = {person: value or [] for person, value in values.items()}
        by_part = _part_by_part(field, own, chosen, rules)
        vote = vote if by_part.is_tied and not vote.is_tied else by_part
    return vote._replace(value=_in_order(field["widget"], vote.value))


def _as_a_whole(values: Versions, chosen: str, same: Callable[[Any, Any], bool]) -> _Vote:
    """The value with the most people behind it; of equals the chosen holder's."""
    people = [chosen, *(person for person in values if person != chosen)]
    behind = {
        person: [other for other in values if same(values[person], values[other])]
        for person in people
    }
    best = max(people, key=lambda person: len(behind[person]))
    if 2 * len(behind[best]) > len(values):
        return _Vote(values[best], behind[best], False)
    return _Vote(values[chosen], behind[chosen], True)


def _in_order(widget: str, value: Any) -> Any:
    if not value or widget not in ("messages", "references", "arguments"):
        return value
    if not isinstance(value, list):
        return value
    return sorted(value, key=canonical_json if widget == "arguments" else None)


class _Part(NamedTuple):
    """One message, criterion, argument or phase; where each has it, and who says just that."""

    value: Any
    places: Mapping[str, int]
    by: Collection[str]


def _part_by_part(
    field: FormField, own: Mapping[str, Sequence[Any]], chosen: str, rules: Rules
) -> _Vote:
    """Each part that a strict majority has. One that half of them have is neither in nor out."""
    widget = field["widget"]
    parts, is_tied = [], False
    for cluster in gathered(own, lambda left, right: match_parts(widget, left, right, rules)):
        if 2 * len(cluster) < len(own):
            continue
        part = _PARTS[widget](dict(cluster), own, chosen)
        if part is None or 2 * len(cluster) == len(own):
            is_tied = True
        else:
            parts.append(part)
    parts.sort(key=lambda part: _place(part, own[chosen], chosen))
    agreeing = {person: _ascend(person, parts) for person in own}
    if widget == "phases":
        is_tied |= 2 * sum(agreeing.values()) <= len(own)
    by = [
        person
        for person, said in own.items()
        if len(said) == len(parts)
        and all(person in part.by for part in parts)
        and (agreeing[person] or widget != "phases")
    ]
    if len(parts) < max(field["at_least"], is_tied):  # a tied label is shown as it may be
        return _Vote(list(own[chosen]), by, True)
    return _Vote([part.value for part in parts], by, is_tied)


def _alike(places: dict[str, int], own: Mapping[str, Sequence[Any]], chosen: str) -> _Part:
    """In the chosen holder's words, else those of the first by name."""
    person = chosen if chosen in places else min(places)
    return _Part(own[person][places[person]], places, places)


def _argument(
    places: dict[str, int], own: Mapping[str, Sequence[Record]], chosen: str
) -> _Part | None:
    """The role and the words of most; None if they mark other words."""
    said = {person: canonical_json(bare("", own[person][at])) for person, at in places.items()}
    most, number = Counter(said.values()).most_common(1)[0]
    if 2 * number <= len(own):
        return None
    by = [person for person, text in said.items() if text == most]
    return _Part(dict(own[by[0]][places[by[0]]]), places, by)


def _phase(
    places: dict[str, int], own: Mapping[str, Sequence[Record]], chosen: str
) -> _Part | None:
    """With the evidence of most; None if there is none, or half of them cite a message."""
    cited = {person: set(own[person][at].get("evidence") or []) for person, at in places.items()}
    counts = Counter(message for messages in cited.values() for message in messages)
    evidence = sorted(message for message, number in counts.items() if 2 * number > len(own))
    if not evidence or any(2 * number == len(own) for number in counts.values()):
        return None
    phase = {**_alike(places, own, chosen).value, "evidence": evidence}
    return _Part(phase, places, [name for name in places if cited[name] == set(evidence)])


def _place(part: _Part, own: Sequence[Any], chosen: str) -> tuple[float, tuple[int, int]]:
    """As the chosen holder has it; what they do not have, where it happened, or at the end."""
    begins = first_place(part.value) if isinstance(part.value, Mapping) else (0, 0)
    if chosen in part.places:
        return part.places[chosen], begins
    if not isinstance(part.value, Mapping):
        return len(own) + min(part.places.values()), begins
    later = (at for at, other in enumerate(own) if first_place(other) > begins)
    return next(later, len(own)) - 0.5, begins


def _ascend(person: str, parts: Sequence[_Part]) -> bool:
    """Whether the person has the parts in this order."""
    places = [part.places[person] for part in parts if person in part.places]
    return places == sorted(places)


_PARTS: Mapping[str, Callable[[dict[str, int], Any, str], _Part | None]] = {
    "messages": _alike,
    "references": _alike,
    "lines": _alike,
    "arguments": _argument,
    "phases": _phase,
}
"""What is decided part by part, and what becomes of a part that several people have."""
