"""Labels of two people that are perhaps the same: about the same place, in other words.

Two labels match when their words are similar enough. Two that cite the same messages in other
words, or are equal in all but one field, do not, and count as two labels in every figure; but who
decides about them should see them next to each other, field by field. Only labels that are not
matched are looked at.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np

from labeling.agreement.matching.matching import (
    Record,
    assign_unordered,
    cited_by,
    overlap,
    span_overlap,
)
from labeling.agreement.matching.merging import Cluster
from labeling.schema import compared_names, reference_fields, span_fields
from labeling.schema.sameness import differing

Place = frozenset[Hashable]
"""What a label is about: the messages that it cites, else the labels that it refers to."""


class Candidate(NamedTuple):
    """Positions of two labels that are perhaps the same, and the fields in which they differ."""

    left: int
    right: int
    differs: list[str]


def candidates(
    layer: str,
    left: Sequence[Record],
    right: Sequence[Record],
    *,
    places: tuple[Sequence[Place], Sequence[Place]] | None = None,
) -> list[Candidate]:
    """One-to-one: as many pairs as possible, and of those the ones with most in common.

    Parameters
    ----------
    left, right
        The labels of two people that are not matched.
    places
        What each of them is about; by default what the labels themselves say, which takes
        references in common terms (:mod:`labeling.agreement.matching.references`).

    Examples
    --------
    >>> ana, ben = {"title": "Log in", "source_messages": [1, 2]}, {"title": "Sign on"}
    >>> candidates("extraction", [ana], [ben | {"source_messages": [2]}])
    [Candidate(left=0, right=0, differs=['title', 'source_messages'])]
    >>> candidates("extraction", [ana], [ben | {"source_messages": [3]}])
    []
    """
    if not left or not right:
        return []
    about = places or tuple([place_of(layer, label) for label in side] for side in (left, right))
    table = np.array(
        [
            [_common(layer, a, b, place, other) for b, other in zip(right, about[1], strict=True)]
            for a, place in zip(left, about[0], strict=True)
        ],
        dtype=np.float64,
    ).reshape(len(left), len(right))
    pairs = assign_unordered(
        left,
        right,
        table.round(6),
        table > 0,
        prefer=lambda i, j: _alike(layer, left[i], right[j]),
    )
    fields = compared_names(layer)
    return [
        Candidate(pair.left, pair.right, differing([left[pair.left], right[pair.right]], fields))
        for pair in pairs
    ]


def place_of(layer: str, label: Record) -> Place:
    if messages := frozenset[Hashable](cited_by(label)):
        return messages
    named: set[Hashable] = set()
    for name in reference_fields(layer):
        value = label.get(name)
        named |= set(value) if isinstance(value, list) else {value} if value else set()
    return frozenset(named)


def perhaps_same(layer: str, clusters: Sequence[Cluster]) -> list[dict[str, Record]]:
    """For each cluster of the labels of a conversation, by who is missing in it, their candidate.

    Everybody's labels that are in a cluster without the other are compared with the other's.
    """
    likely: list[dict[str, Record]] = [{} for _ in clusters]
    people = sorted({side.annotator for cluster in clusters for side in cluster.sides})
    labels = {
        (at, side.annotator): side.label
        for at, cluster in enumerate(clusters)
        for side in cluster.sides
        if side.label is not None
    }
    for a, b in combinations(people, 2):
        own, other = _alone(labels, a, without=b), _alone(labels, b, without=a)
        pairs = candidates(layer, [label for _, label in own], [label for _, label in other])
        for pair in pairs:
            (at, left), (to, right) = own[pair.left], other[pair.right]
            likely[at][b], likely[to][a] = right, left
    return likely


def _alone(
    labels: Mapping[tuple[int, str], Record], who: str, *, without: str
) -> list[tuple[int, Record]]:
    """Somebody's labels in the clusters in which the other has none."""
    return [
        (at, label)
        for (at, name), label in labels.items()
        if name == who and (at, without) not in labels
    ]


def _common(layer: str, a: Record, b: Record, place: Place, other: Place) -> float:
    """How much of what the two are about they share, in [0, 1]."""
    if place or other:
        return overlap(place, other)
    spans = (span_overlap(a.get(name), b.get(name)) for name in span_fields(layer))
    return max(spans, default=0.0)


def _alike(layer: str, a: Record, b: Record) -> float:
    fields = compared_names(layer)
    return 1 - len(differing([a, b], fields)) / len(fields)
