"""What several annotators agree on, and who gave which label.

Labels that mean the same, by the one matcher, are gathered in clusters with at
most one label of each annotator. A cluster is agreed if a strict majority has a label in it, and
of those a strict majority says the same in each field; anything else makes the conversation
disputed and a matter for adjudication.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count
from typing import Any, Literal, NamedTuple, TypedDict

from labeling.agreement.matching.agreed import AgreedLabel, agreed_label, gathered
from labeling.agreement.matching.matchers import Rules, centrality, match_labels
from labeling.agreement.matching.matching import (
    DEFAULT_SYNONYMS,
    THRESHOLD,
    Record,
    Synonyms,
    first_place,
)
from labeling.agreement.matching.similarity import Ruler
from labeling.domain.canonical import canonical_json
from labeling.schema import DEFAULT_LAYER, LAYERS, compared_names, reference_fields
from labeling.schema.labels import Payload, StoredLabel
from labeling.schema.layers import Judged
from labeling.schema.sameness import differing

State = Literal["unanimous", "majority", "single", "disputed"]


class AnnotatorLabel(NamedTuple):
    """One annotator's label."""

    annotator: str
    label: Record


class Dissent(TypedDict):
    """Somebody whose label is not the settled one: ``label`` None if they don't have it."""

    annotator: str
    label: StoredLabel | None
    differs: list[str]


@dataclass(frozen=True, slots=True)
class Settled:
    """One label and where it comes from.

    ``how`` is ``unanimous``, ``majority``, ``single`` (only one person labeled) or
    ``disputed``. ``uids`` names the holders (``by``) and their own labels. ``dissent`` has
    an entry for everybody else (``label`` ``None``) and for each holder whose label
    reads otherwise, with that label and the fields that differ.

    ``fields`` has the compared fields in which not all holders say the same, with those who
    say what the label says. ``tied`` are those of them, of a label that a strict majority holds,
    in which no strict majority of its holders says the same.
    """

    label: StoredLabel
    how: State
    uids: dict[str, str | None]
    dissent: list[Dissent]
    fields: dict[str, list[str]] = field(default_factory=dict)
    tied: list[str] = field(default_factory=list)

    @property
    def by(self) -> list[str]:
        return list(self.uids)

    @property
    def as_it_stands(self) -> list[str]:
        """The holders who say the same in every compared field."""
        return [name for name in self.by if all(name in said for said in self.fields.values())]


@dataclass(frozen=True, slots=True)
class Settlement:
    """The outcome for one conversation.

    ``agreed`` are the labels that hold, ``disputed`` those that no strict majority
    gave, or gave in the same way. The state is ``disputed`` as soon as there is one; else
    ``majority`` if some label was not held by everybody, or somebody says otherwise in a compared
    field. ``single`` is one annotator's word, unopposed.
    """

    state: State
    annotators: list[str]
    agreed: list[Settled]
    disputed: list[Settled]
    layer: str = DEFAULT_LAYER

    @property
    def payload(self) -> Payload:
        """The agreed labels as a gold payload, numbered from 1."""
        return {LAYERS[self.layer].key: [settled.label for settled in self.agreed]}

    @property
    def empty(self) -> bool:
        """Whether "nothing here" is what was agreed."""
        return not self.agreed and not self.disputed


def settle(
    labels_by_annotator: Mapping[str, Sequence[Record]],
    *,
    ruler: Ruler,
    layer: str = DEFAULT_LAYER,
    synonyms: Synonyms = DEFAULT_SYNONYMS,
    threshold: float = THRESHOLD,
    order: Sequence[str] = (),
) -> Settlement:
    """What the annotators of one conversation agree on.

    Parameters
    ----------
    labels_by_annotator
        What each of them submitted for the layer, with references in common terms (see
        :mod:`labeling.agreement.matching.references`); an empty list is "nothing here".
    ruler, synonyms, threshold
        As for :func:`~labeling.agreement.matching.match_requirements`.
    order
        The uids that labels refer to, in the order of their labels.

    Returns
    -------
    Settlement
        Independent of the order of annotators and labels. The words of an agreed label are those
        of the holder most similar to the other holders; see
        :func:`~labeling.agreement.matching.agreed.agreed_label` for what a majority decides in it.

    Raises
    ------
    ValueError
        Without annotators: no answer is not an agreement.
    """
    if not labels_by_annotator:
        raise ValueError("settle: nobody has submitted labels")
    rules = Rules(ruler, synonyms, threshold)
    people = sorted(labels_by_annotator)
    labels = {person: sorted(labels_by_annotator[person], key=canonical_json) for person in people}
    places = {uid: place for place, uid in enumerate(order)}
    settled = sorted(
        (_settled(layer, cluster, people, rules) for cluster in clusters(layer, labels, rules)),
        key=lambda entry: _position(layer, entry, places),
    )
    _tell_apart([entry.label for entry in settled])
    agreed = [entry for entry in settled if entry.how != "disputed"]
    disputed = [entry for entry in settled if entry.how == "disputed"]
    if LAYERS[layer].stores_id:
        for number, entry in enumerate(agreed, start=1):
            entry.label["id"] = f"{LAYERS[layer].prefix}-{number:03d}"
    return Settlement(_state(people, agreed, disputed), people, agreed, disputed, layer)


def _tell_apart(labels: Sequence[StoredLabel]) -> None:
    """No uid twice: people are distinguished by name, but agreed labels only by their uids."""
    taken: set[str] = set()
    known = {label.get("uid") for label in labels}
    for label in labels:
        uid = label.get("uid")
        if uid in taken:
            names = (f"{uid}-{number}" for number in count(2))
            label["uid"] = uid = next(name for name in names if name not in known | taken)
        if uid:
            taken.add(uid)


def clusters(
    layer: str, labels: Mapping[str, Sequence[Record]], rules: Rules
) -> list[list[AnnotatorLabel]]:
    """The labels that mean the same, together; each annotator at most once in a cluster."""
    places = gathered(labels, lambda left, right: match_labels(layer, left, right, rules))
    return [
        [AnnotatorLabel(person, labels[person][at]) for person, at in cluster] for cluster in places
    ]


def _settled(
    layer: str, cluster: Sequence[AnnotatorLabel], people: Sequence[str], rules: Rules
) -> Settled:
    holders = {member.annotator: member.label for member in cluster}
    chosen = _most_central(layer, cluster, rules)
    agreed = agreed_label(layer, holders, chosen, rules)
    return Settled(
        label=agreed.label,
        how=_how(layer, agreed, list(holders), len(people)),
        uids={person: own.get("uid") for person, own in holders.items()},
        dissent=_dissent(layer, agreed.label, holders, people),
        fields=agreed.fields,
        tied=agreed.tied if 2 * len(holders) > len(people) else [],
    )


def _most_central(layer: str, cluster: Sequence[AnnotatorLabel], rules: Rules) -> str:
    """Who has the label nearest to the others'; the first by name on a tie."""
    totals = centrality(layer, [member.label for member in cluster], rules)
    return cluster[int(totals.argmax())].annotator


def _how(layer: str, agreed: AgreedLabel, holders: Sequence[str], people: int) -> State:
    """Of a layer that is about a value (a rating), a majority of all must give that value."""
    if people == 1:
        return "single"
    units = LAYERS[layer].units
    value = units.value if isinstance(units, Judged) else ""
    backed = len(agreed.fields.get(value, holders))
    if agreed.tied or 2 * backed <= people:
        return "disputed"
    return "majority" if agreed.fields or len(holders) < people else "unanimous"


def _dissent(
    layer: str, label: Record, holders: Mapping[str, Record], people: Sequence[str]
) -> list[Dissent]:
    rows: list[Dissent] = []
    for person in people:
        own = holders.get(person)
        differs = [] if own is None else differing([own, label], compared_names(layer))
        if own is None or differs:
            label_of = None if own is None else dict(own)
            rows.append({"annotator": person, "label": label_of, "differs": differs})
    return rows


def _position(layer: str, settled: Settled, places: Mapping[str, int]) -> tuple[Any, ...]:
    """In the order of the conversation, or of what the label refers to."""
    label = settled.label
    named = [
        uid
        for name in reference_fields(layer)
        for uid in (label[name] if isinstance(label.get(name), list) else [label.get(name)])
    ]
    first = min((places[str(uid)] for uid in named if uid in places), default=0)
    return first_place(label), first, canonical_json(label)


def _state(people: Sequence[str], agreed: list[Settled], disputed: list[Settled]) -> State:
    if disputed:
        return "disputed"
    if len(people) == 1:
        return "single"
    return "majority" if any(label.how == "majority" for label in agreed) else "unanimous"
