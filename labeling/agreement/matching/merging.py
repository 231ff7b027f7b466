"""What an adjudicator starts from, and what their decision says about each label.

The annotators' labels of one conversation are in clusters, one cluster for each thing that was
meant (:mod:`labeling.agreement.matching.consensus`). A decision has one label, or none, for each
cluster.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple, cast
from uuid import uuid4

from labeling.agreement.matching.consensus import Settled, Settlement, State
from labeling.agreement.matching.matching import first_place
from labeling.domain.stored import Stored, as_json
from labeling.schema.labels import StoredLabel
from labeling.schema.sameness import NAMES, bare, content, differing

Record = Mapping[str, Any]


class Side(NamedTuple):
    """One annotator's version of a cluster: ``label`` None if they don't have it."""

    annotator: str
    label: Record | None


class Cluster(NamedTuple):
    """One thing that was meant.

    ``how`` is unanimous, majority, single or disputed; ``label`` what holds if nothing is
    decided otherwise; ``sides`` has everybody who answered; ``differs`` are the fields in which
    the versions differ. ``fields`` and ``tied`` as in
    :class:`~labeling.agreement.matching.consensus.Settled`.
    """

    how: str
    label: Record
    sides: list[Side]
    differs: list[str]
    fields: Mapping[str, Sequence[str]] = {}
    tied: Sequence[str] = ()

    @property
    def missing(self) -> list[str]:
        return [side.annotator for side in self.sides if side.label is None]


def clusters_of(settlement: Settlement) -> list[Stored]:
    """A settlement as plain JSON, in the order of the conversation."""
    everything = [*settlement.agreed, *settlement.disputed]
    return [as_json(each) for each in sorted(everything, key=lambda s: first_place(s.label))]


def settlement_of(
    layer: str, state: str, annotators: Sequence[str], stored: Sequence[Stored]
) -> Settlement:
    """The settlement that :func:`clusters_of` wrote down."""
    settled = [Settled(**row) for row in stored]
    agreed = [cluster for cluster in settled if cluster.how != "disputed"]
    disputed = [cluster for cluster in settled if cluster.how == "disputed"]
    return Settlement(cast(State, state), list(annotators), agreed, disputed, layer)


def agreement_of(settlement: Settlement) -> float:
    """Mean share of the annotators who hold a label, and say the same in each compared field.

    In [0, 1], 1 when everybody says the same. Where nobody labeled anything, all agree: 1.
    """
    shares = [
        len(settled.as_it_stands) / len(settlement.annotators)
        for settled in [*settlement.agreed, *settlement.disputed]
    ]
    return sum(shares) / len(shares) if shares else 1.0


def read_clusters(
    stored: Sequence[Stored],
    answers: Mapping[str, Sequence[Record]],
    *,
    fields: Collection[str] = (),
) -> list[Cluster]:
    """Stored clusters with everybody's labels; ``fields`` are those that are compared."""
    return [_read(cluster, answers, fields) for cluster in stored]


def _read(
    stored: Stored, answers: Mapping[str, Sequence[Record]], fields: Collection[str]
) -> Cluster:
    sides = [
        Side(person, _with_uid(own_labels, stored["uids"].get(person)))
        for person, own_labels in sorted(answers.items())
    ]
    return Cluster(
        stored["how"],
        stored["label"],
        sides,
        differing([side.label for side in sides], fields),
        stored.get("fields", {}),
        stored.get("tied", []),
    )


def _with_uid(labels: Sequence[Record], uid: Any) -> Record | None:
    return next((label for label in labels if uid is not None and label.get("uid") == uid), None)


def attributed(chosen: Record, cluster: Cluster) -> StoredLabel:
    """The chosen label with whose words it has and whose labels it represents.

    The names are in ``adopted_from``, the holders' own labels in ``uids``. An agreed label
    represents all who have it. The words of an edited one come from nobody, but it still
    represents the labels of its cluster, which other labels may refer to.
    """
    holders = [side for side in cluster.sides if side.label is not None]
    if cluster.how != "disputed" and _same(chosen, cluster.label):
        adopted = [side.annotator for side in holders]
    else:
        adopted = [
            side.annotator
            for side in holders
            if side.label is not None and _same(chosen, side.label)
        ]
    uids = {side.annotator: side.label.get("uid") for side in holders if side.label is not None}
    return {**chosen, "adopted_from": adopted, "uids": uids}


def plain(label: Record) -> StoredLabel:
    """A decided label as it goes into gold, without its origin."""
    return {name: value for name, value in label.items() if name not in DECIDED}


DECIDED = frozenset({"adopted_from", "uids"})
"""What a decision says of each label in addition to the label itself."""


def overrules_everybody(chosen: Record | None, cluster: Cluster) -> bool:
    """Whether the decision about a cluster is one that no annotator had given.

    A label of which each field is somebody's, or what most of them say, overrules nobody.
    """
    if chosen is None:
        return not cluster.missing
    given = [side.label for side in cluster.sides if side.label is not None]
    return not all(
        bare(name, value) in [bare(name, label.get(name)) for label in given]
        or (name not in cluster.tied and bare(name, value) == bare(name, cluster.label.get(name)))
        for name, value in chosen.items()
        if name not in NAMES
    )


def numbered(labels: Sequence[Record]) -> list[StoredLabel]:
    """In the order of the conversation, with ids counted from 1 and no uid twice."""
    seen: set[str] = set()
    ordered = sorted(labels, key=first_place)
    result = []
    for number, label in enumerate(ordered, start=1):
        uid = str(label.get("uid") or "")
        fresh = uid if uid and uid not in seen else uuid4().hex
        seen.add(fresh)
        name = {"id": f"{label['id'].partition('-')[0]}-{number:03d}"} if label.get("id") else {}
        result.append({**label, "uid": fresh, **name})
    return result


def _same(a: Record, b: Record) -> bool:
    return content(a) == content(b)
