"""What two annotators of a round see differently."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from itertools import groupby
from operator import itemgetter
from typing import Any, NamedTuple

from django.db.models import QuerySet

from labeling.agreement import answers, measurements
from labeling.agreement.agreement import Labels, labels_of
from labeling.agreement.answers import EVERYTHING, Selection
from labeling.agreement.conversations import START, Place, place_of, splits_in
from labeling.agreement.matching.matching import match_events
from labeling.agreement.rules.disagreements import Split, SplitCandidate
from labeling.models import Round
from labeling.schema import LAYERS

MOST_DIFFERENCES = 500
MOST_CANDIDATES = 100
"""A page ends with the conversation that has brought as many."""


class PairDifference(NamedTuple):
    """One unit, or one event, that two annotators see differently."""

    conversation: str
    unit: str
    left: Hashable
    right: Hashable


class PerhapsSame(NamedTuple):
    """Labels of two annotators in one conversation that are perhaps the same."""

    conversation: str
    pair: SplitCandidate


class PairPage(NamedTuple):
    """Some conversations of a round: what two annotators see differently in them.

    ``after`` is the key of the last one; None where nothing follows.
    """

    differences: list[PairDifference]
    perhaps_same: list[PerhapsSame]
    after: int | None


def page_of_pair(
    measured: Round,
    a: str,
    b: str,
    layer: str,
    selection: Selection = EVERYTHING,
    *,
    after: int | None = None,
) -> PairPage:
    """What lowers the agreement of one pair, in the order of the round; the labels of ``a`` first.

    ``after`` is the conversation that ended the page before.
    """
    if not LAYERS[layer].has_units:
        return _page_of_labels(measured, a, b, layer, selection, after)
    measurements.refuse_unmeasured(measured, layer, selection)
    last = place_of(measured, layer, after) if after else None
    since = START if last is None else Place(last.position, last.conversation + 1)
    page = PairPage([], [], None)
    both = _answered_by_both(measured, a, b)
    splits = splits_in(measured, layer, selection, among=both, since=since)
    concerning = (each for each in splits if each[1].concerns(a, b))
    last_seen = None
    for conversation, here in groupby(concerning, key=itemgetter(0)):
        if len(page.differences) >= MOST_DIFFERENCES or len(page.perhaps_same) >= MOST_CANDIDATES:
            return page._replace(after=last_seen)
        for _, split in here:
            if split.divides(a, b):
                page.differences.append(_difference(split, a, b))
            page.perhaps_same.extend(_candidates(split, a, b))
        last_seen = conversation
    return page


def _answered_by_both(measured: Round, a: str, b: str) -> QuerySet[Any]:
    """The conversations, by key: of many people, most are answered by others."""
    submitted = answers.submitted(measured, EVERYTHING).order_by()
    of_a, of_b = (
        submitted.filter(annotator__username=who).values("conversation") for who in (a, b)
    )
    return of_a.filter(conversation__in=of_b)


def _difference(split: Split, a: str, b: str) -> PairDifference:
    unit = split.name or str(split.unit)
    return PairDifference(split.conversation, unit, split.labels[a], split.labels[b])


def _candidates(split: Split, a: str, b: str) -> list[PerhapsSame]:
    return [
        PerhapsSame(split.conversation, pair if pair.a == a else pair.turned)
        for pair in split.candidates
        if {pair.a, pair.b} == {a, b}
    ]


def _page_of_labels(
    measured: Round, a: str, b: str, layer: str, selection: Selection, after: int | None
) -> PairPage:
    """Of events, which have no units: from the labels themselves, in order of the name."""
    differences = _label_differences(layer, labels_of(measured, layer, selection), a, b)
    keys = dict(measured.conversations.order_by().values_list("external_id", "pk"))
    names = {pk: name for name, pk in keys.items()}
    behind = names.get(after or 0, "")
    rest = [each for each in differences if each.conversation > behind]
    shown = rest[:MOST_DIFFERENCES]
    if len(rest) > len(shown):
        last = shown[-1].conversation
        shown = [each for each in rest if each.conversation <= last]
        return PairPage(shown, [], keys[last] if len(rest) > len(shown) else None)
    return PairPage(shown, [], None)


def _label_differences(layer: str, labels: Labels, a: str, b: str) -> list[PairDifference]:
    """The labels that only one of the two has."""
    only_one_has = []
    left, right = labels.get(a, {}), labels.get(b, {})
    for name in sorted(left.keys() & right.keys()):
        matches = match_events(left[name], right[name])
        for side, own, seen in (
            (0, left[name], {match.left for match in matches}),
            (1, right[name], {match.right for match in matches}),
        ):
            only_one_has += [
                PairDifference(name, _name(layer, label), int(side == 0), int(side == 1))
                for position, label in enumerate(own)
                if position not in seen
            ]
    return only_one_has


def _name(layer: str, label: Mapping[str, Any]) -> str:
    words = label[LAYERS[layer].heading]
    return f"{label[LAYERS[layer].type_field]}: “{words['text']}” in message {words['message']}"
