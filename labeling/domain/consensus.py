"""What several annotators agree on, and who held what.

Labels that mean the same, by the one matcher, are gathered in clusters with at
most one label of each annotator. A cluster held by a strict majority is agreed;
anything else makes the conversation disputed and a matter for adjudication.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import combinations
from typing import Any, Literal, NamedTuple

from labeling.domain.matching import (
    DEFAULT_SYNONYMS,
    THRESHOLD,
    Record,
    Synonyms,
    match_requirements,
    requirement_text,
)
from labeling.domain.release import canonical_json
from labeling.domain.similarity import Ruler

State = Literal["unanimous", "majority", "single", "disputed"]

COMPARED = (
    "title",
    "type",
    "actor",
    "action",
    "condition",
    "acceptance_criteria",
    "priority",
    "source_messages",
)
"""Fields in which a holder's label is said to differ from the agreed one."""


class Held(NamedTuple):
    """One annotator's label."""

    annotator: str
    label: Record


@dataclass(frozen=True, slots=True)
class Settled:
    """One label and where it comes from.

    ``how`` is ``unanimous``, ``majority``, ``single`` (only one person labelled) or
    ``disputed``. ``by`` names the holders and ``uids`` their own labels. ``dissent`` has
    an entry for everybody else (``label`` ``None``) and for each holder whose label
    reads otherwise, with that label and the fields that differ.
    """

    label: dict[str, Any]
    how: State
    by: list[str]
    uids: dict[str, str | None]
    dissent: list[dict[str, Any]]

    @property
    def provenance(self) -> dict[str, Any]:
        """Plain JSON beside the label in gold."""
        return {key: value for key, value in asdict(self).items() if key != "label"}


@dataclass(frozen=True, slots=True)
class Settlement:
    """The outcome for one conversation.

    ``agreed`` are the labels that stand, ``disputed`` those that no strict majority
    held. The state is ``disputed`` as soon as there is one; else ``majority`` if some
    label was not held by everybody. ``single`` is one annotator's word, unopposed.
    """

    state: State
    annotators: list[str]
    agreed: list[Settled]
    disputed: list[Settled]

    @property
    def payload(self) -> dict[str, Any]:
        """The agreed labels as a gold payload, numbered anew."""
        return {"requirements": [settled.label for settled in self.agreed]}

    @property
    def empty(self) -> bool:
        """Whether "nothing here" is what was agreed."""
        return not self.agreed and not self.disputed


def settle(
    labels_by_annotator: Mapping[str, Sequence[Record]],
    *,
    ruler: Ruler,
    synonyms: Synonyms = DEFAULT_SYNONYMS,
    threshold: float = THRESHOLD,
) -> Settlement:
    """What the annotators of one conversation agree on.

    Parameters
    ----------
    labels_by_annotator
        What each of them submitted; "nothing here" is an empty list.
    ruler, synonyms, threshold
        As for :func:`~labeling.domain.matching.match_requirements`.

    Returns
    -------
    Settlement
        Independent of the order of annotators and labels. The words of an agreed
        label are those of the holder most similar to the other holders; its source
        messages are those that a strict majority of the holders cite, or the
        chosen holder's own if there is no such message.

    Raises
    ------
    ValueError
        Without annotators: nobody's silence is not agreement.
    """
    if not labels_by_annotator:
        raise ValueError("settle: nobody has submitted labels")
    people = sorted(labels_by_annotator)
    labels = {person: sorted(labels_by_annotator[person], key=canonical_json) for person in people}
    found = clusters(labels, ruler=ruler, synonyms=synonyms, threshold=threshold)
    settled = [_settled(cluster, people, ruler) for cluster in found]
    agreed = sorted((each for each in settled if each.how != "disputed"), key=_position)
    disputed = sorted((each for each in settled if each.how == "disputed"), key=_position)
    for number, each in enumerate(agreed, start=1):
        each.label["id"] = f"REQ-{number:03d}"
    return Settlement(_state(people, agreed, disputed), people, agreed, disputed)


def clusters(
    labels: Mapping[str, Sequence[Record]],
    *,
    ruler: Ruler,
    synonyms: Synonyms = DEFAULT_SYNONYMS,
    threshold: float = THRESHOLD,
) -> list[list[Held]]:
    """Join matched labels, most similar first, unless an annotator would be in it twice."""
    cluster_of = {
        (person, position): {person: position}
        for person, given in labels.items()
        for position in range(len(given))
    }
    for _, left, right in _links(labels, ruler=ruler, synonyms=synonyms, threshold=threshold):
        first, second = cluster_of[left], cluster_of[right]
        if first is not second and not first.keys() & second.keys():
            first |= second
            cluster_of |= dict.fromkeys(second.items(), first)
    distinct = {id(cluster): cluster for cluster in cluster_of.values()}
    return [
        [Held(person, labels[person][cluster[person]]) for person in sorted(cluster)]
        for cluster in distinct.values()
    ]


def _links(
    labels: Mapping[str, Sequence[Record]], *, ruler: Ruler, synonyms: Synonyms, threshold: float
) -> list[tuple[float, tuple[str, int], tuple[str, int]]]:
    links = [
        (-match.similarity, (a, match.left), (b, match.right))
        for a, b in combinations(labels, 2)
        for match in match_requirements(
            labels[a], labels[b], ruler=ruler, synonyms=synonyms, threshold=threshold
        )
    ]
    return sorted(links)


def _settled(cluster: Sequence[Held], people: Sequence[str], ruler: Ruler) -> Settled:
    chosen = _most_central(cluster, ruler)
    label = dict(chosen) | {"source_messages": _sources(cluster, chosen)}
    holders = {held.annotator: held.label for held in cluster}
    return Settled(
        label=label,
        how=_how(len(cluster), len(people)),
        by=list(holders),
        uids={person: own.get("uid") for person, own in holders.items()},
        dissent=_dissent(label, holders, people),
    )


def _most_central(cluster: Sequence[Held], ruler: Ruler) -> Record:
    """The label with the highest total similarity to the others; first by name on a tie."""
    texts = [requirement_text(held.label) for held in cluster]
    totals = ruler.similarities(texts, texts).sum(axis=1).round(6)
    return cluster[int(totals.argmax())].label


def _sources(cluster: Sequence[Held], chosen: Record) -> list[int]:
    cited = [set(held.label.get("source_messages") or ()) for held in cluster]
    majority = [
        index
        for index in sorted(set().union(*cited))
        if 2 * sum(index in own for own in cited) > len(cluster)
    ]
    return majority or sorted(set(chosen.get("source_messages") or ()))


def _how(holders: int, people: int) -> State:
    if people == 1:
        return "single"
    if holders == people:
        return "unanimous"
    return "majority" if 2 * holders > people else "disputed"


def _dissent(
    label: Record, holders: Mapping[str, Record], people: Sequence[str]
) -> list[dict[str, Any]]:
    rows = []
    for person in people:
        own = holders.get(person)
        differs = [] if own is None else _differences(own, label)
        if own is None or differs:
            rows.append({"annotator": person, "label": own and dict(own), "differs": differs})
    return rows


def _differences(a: Record, b: Record) -> list[str]:
    """The compared fields whose contents differ; the order of source messages is none."""
    different = [key for key in COMPARED if a.get(key) != b.get(key)]
    if set(a.get("source_messages") or ()) == set(b.get("source_messages") or ()):
        different = [key for key in different if key != "source_messages"]
    return different


def _position(settled: Settled) -> tuple[int, str]:
    """In the order of the conversation."""
    return min(settled.label["source_messages"], default=0), canonical_json(settled.label)


def _state(people: Sequence[str], agreed: list[Settled], disputed: list[Settled]) -> State:
    if disputed:
        return "disputed"
    if len(people) == 1:
        return "single"
    return "majority" if any(each.how == "majority" for each in agreed) else "unanimous"
