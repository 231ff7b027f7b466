"""What two annotators of a round see differently."""

from __future__ import annotations

from itertools import groupby
from operator import itemgetter
from typing import NamedTuple

from labeling.agreement import answers, measurements
from labeling.agreement.answers import EVERYTHING, Selection
from labeling.agreement.conversations import START, Place, place_of, splits_in
from labeling.agreement.rules.disagreements import Split, SplitCandidate
from labeling.models import Round

MOST_DIFFERENCES = 500
MOST_CANDIDATES = 100
"""A page ends with the conversation that has brought as many."""


class PairPage(NamedTuple):
    """Some conversations of a round, by key: what two annotators see differently in them.

    ``perhaps_same`` are labels of the two, those of the first one as ``a``. ``after`` is the key of
    the last conversation; None where nothing follows.
    """

    divided: list[tuple[int, Split]]
    perhaps_same: list[tuple[int, SplitCandidate]]
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
    """What lowers the agreement of one pair, in the order of the round.

    ``after`` is the conversation that ended the page before.
    """
    measurements.refuse_unmeasured(measured, layer, selection)
    last = place_of(measured, layer, after) if after else None
    since = START if last is None else Place(last.position, last.conversation + 1)
    page = PairPage([], [], None)
    # of many people, most conversations are answered by others
    submitted = answers.submitted(measured, EVERYTHING).order_by()
    of_a, of_b = (submitted.filter(annotator__username=name) for name in (a, b))
    both = of_a.filter(conversation__in=of_b.values("conversation")).values("conversation")
    splits = splits_in(measured, layer, selection, among=both, since=since)
    concerning = (each for each in splits if each[1].concerns(a, b))
    last_seen = None
    for pk, here in groupby(concerning, key=itemgetter(0)):
        if len(page.divided) >= MOST_DIFFERENCES or len(page.perhaps_same) >= MOST_CANDIDATES:
            return page._replace(after=last_seen)
        for _, split in here:
            if split.divides(a, b):
                page.divided.append((pk, split))
            for pair in split.candidates:
                if {pair.a, pair.b} == {a, b}:
                    page.perhaps_same.append((pk, pair if pair.a == a else pair.turned))
        last_seen = pk
    return page
