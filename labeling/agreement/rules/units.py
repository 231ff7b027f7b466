"""What two annotators can agree or disagree about: the units of each layer.

The entry of a layer says which. A message is cited or it is not. Labels about a requirement (or
other label) judge it, and everybody has labeled their own; so the requirements of all annotators
are matched first, and a unit belongs to one such cluster.
Anyone who has no requirement in the cluster could not judge it: their label is missing, and the
unit counts for no pair with them. Where there are no units (nobody marks what is *not* an event),
people are compared by F1.
"""

from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from labeling.agreement.matching.consensus import clusters
from labeling.agreement.matching.matchers import Rules
from labeling.agreement.matching.matching import Record, cited_by
from labeling.schema import LAYERS
from labeling.schema.layers import Judged, Messages

Payload = Mapping[str, Any]
Base = Sequence[Mapping[str, Record]]
"""What was judged, in order: for each requirement (or other target), its label by annotator."""


class Units(NamedTuple):
    """The units of one conversation, and how each annotator labeled them, ``None`` if missing."""

    names: list[str]
    labels: dict[str, list[Hashable]]


def units(
    layer: str, payloads: Mapping[str, Payload], *, message_count: int, base: Base = ()
) -> Units:
    """The units of one conversation.

    Parameters
    ----------
    payloads
        By annotator, what they submitted.
    base
        The judged labels (see :func:`judged`), where the units are about labels.

    Raises
    ------
    ValueError
        For a layer that has no units, and if a message is cited that does not exist.

    Examples
    --------
    >>> ana = {"questions": [{"evidence": [0, 2]}]}
    >>> units("qa", {"ana": ana, "ben": {}}, message_count=3)
    Units(names=['0', '1', '2'], labels={'ana': [1, 0, 1], 'ben': [0, 0, 0]})
    """
    match LAYERS[layer].units:
        case Messages():
            labels = {who: marks(layer, own, message_count) for who, own in payloads.items()}
            return Units([str(index) for index in range(message_count)], labels)
        case Judged() as unit:
            names = _told_apart(name for cluster in base for name in _names(unit, cluster))
            key = LAYERS[layer].key
            return Units(
                names,
                {
                    who: _judgements(unit, who, own.get(key, []), base)
                    for who, own in payloads.items()
                },
            )
    raise ValueError(f"units: the layer {layer} is compared by F1, not by units")


def marks(layer: str, payload: Payload, message_count: int) -> list[Hashable]:
    """Of one answer, for each message whether a label of the layer cites it.

    Raises
    ------
    ValueError
        If a message is cited that does not exist.
    """
    marked: list[Hashable] = [0] * message_count
    for index in cited(layer, payload):
        if not 0 <= index < message_count:
            raise ValueError(f"units: message {index} is cited, there are {message_count}")
        marked[index] = 1
    return marked


def cited(layer: str, payload: Payload) -> Iterator[int]:
    """Every message that a label of the layer points to."""
    for label in payload.get(LAYERS[layer].key, []):
        yield from cited_by(label)


def sources_of(layer: str, label: Mapping[str, Any]) -> list[int]:
    """The messages that a label is about."""
    trigger = label.get("trigger") or {}
    own = [trigger["message"]] if trigger else []
    return [*cited(layer, {LAYERS[layer].key: [label]}), *own]


def own_units(typed: Units, everything: Units) -> Units:
    """The units as people labeled them by hand.

    One that is labeled otherwise in ``everything`` was labeled through a suggestion: it is
    missing, since it says nothing about what they would have found.
    """
    labels = {
        person: [
            own if own == label else None
            for own, label in zip(own_labels, everything.labels[person], strict=True)
        ]
        for person, own_labels in typed.labels.items()
    }
    return typed._replace(labels=labels)


def judged(layer: str, payloads: Mapping[str, Payload], rules: Rules) -> list[Mapping[str, Record]]:
    """The labels that those of the layer are about, matched between the annotators."""
    matched = [
        {member.annotator: member.label for member in cluster}
        for name in LAYERS[layer].needs
        for cluster in clusters(
            name, {who: own.get(LAYERS[name].key, []) for who, own in payloads.items()}, rules
        )
    ]
    return sorted(matched, key=lambda cluster: (_title(cluster), sorted(cluster)))


def _title(cluster: Mapping[str, Record]) -> str:
    """What to call the judged label: the words of the first annotator in order of names."""
    return str(cluster[min(cluster)].get("title") or "untitled")


def _names(unit: Judged, cluster: Mapping[str, Any]) -> list[str]:
    return [f"{_title(cluster)} · {slot}" if slot else _title(cluster) for slot in unit.slots]


def _told_apart(names: Iterable[str]) -> list[str]:
    """Requirements may have one title: their second unit of a name is called "… (2)"."""
    seen: Counter[str] = Counter()
    distinct = []
    for name in names:
        seen[name] += 1
        distinct.append(name if seen[name] == 1 else f"{name} ({seen[name]})")
    return distinct


def _judgements(unit: Judged, who: str, labels: Sequence[Record], base: Base) -> list[Hashable]:
    """What one annotator says of each unit, ``None`` where they have no such label to judge."""
    judgements: list[Hashable] = []
    for cluster in base:
        if who not in cluster:
            judgements += [None] * len(unit.slots)
            continue
        about = [label for label in labels if _names_it(unit, label, cluster[who].get("uid"))]
        if unit.value:
            judgements.append(about[0].get(unit.value) if about else None)
        else:
            parts = {label.get(unit.part) for label in about}
            judgements += [int(slot in parts if slot else bool(about)) for slot in unit.slots]
    return judgements


def concerned(
    layer: str, payloads: Mapping[str, Payload], cluster: Mapping[str, Any], slot: int
) -> dict[str, list[str]]:
    """By annotator, the uids of their labels that are about one unit of a judged cluster.

    ``slot`` is the position of a part where a unit is a part of a label, else 0.
    """
    unit = LAYERS[layer].units
    if not isinstance(unit, Judged):
        raise ValueError(f"concerned: labels of {layer} judge no other labels")
    part = unit.slots[slot]
    uids_of = {
        who: [
            str(label["uid"])
            for label in own.get(LAYERS[layer].key, [])
            if who in cluster
            and _names_it(unit, label, cluster[who].get("uid"))
            and (not part or label.get(unit.part) == part)
        ]
        for who, own in payloads.items()
    }
    return {who: uids for who, uids in uids_of.items() if uids}


def units_of_label(layer: str, label: Record, who: str, base: Base) -> set[int]:
    """The positions of the units that a label is about."""
    unit = LAYERS[layer].units
    if not isinstance(unit, Judged):
        return set(cited_by(label))
    slots = unit.slots
    return {
        at * len(slots) + slot
        for at, cluster in enumerate(base)
        if who in cluster and _names_it(unit, label, cluster[who].get("uid"))
        for slot, part in enumerate(slots)
        if not part or label.get(unit.part) == part
    }


def slots_of(layer: str) -> int:
    """How many units a judged label makes."""
    unit = LAYERS[layer].units
    return len(unit.slots) if isinstance(unit, Judged) else 1


def _names_it(unit: Judged, label: Mapping[str, Any], uid: Any) -> bool:
    named = label.get(unit.reference)
    return uid in named if isinstance(named, list) else named == uid
