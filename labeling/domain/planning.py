"""Who labels what: a balanced, repeatable plan."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from labeling.domain.errors import RuleError


class TooFewAnnotators(RuleError):
    """The overlap asks for more annotators than there are."""

    code = "too_few_annotators"


class Planned(NamedTuple):
    """One conversation for one annotator; ``slot`` < overlap, ``position`` orders their queue."""

    conversation: int
    annotator: int
    slot: int
    position: int


def shuffled(items: Sequence[int], *, seed: int) -> list[int]:
    """The items in an order that depends on nothing but the items and the seed."""
    order = sorted(items)
    random.Random(seed).shuffle(order)
    return order


def plan(
    conversations: Sequence[int], annotators: Sequence[int], *, overlap: int, seed: int
) -> list[Planned]:
    """Give each conversation to ``overlap`` annotators.

    The work is spread evenly (nobody gets two conversations more than another), and so are the
    pairs of annotators, because agreement is measured by pair. The same input and seed give the
    same plan.

    Raises
    ------
    TooFewAnnotators
        If ``overlap`` is greater than the number of annotators.
    """
    if overlap > len(set(annotators)):
        raise TooFewAnnotators(
            f"{overlap} annotators per conversation are wanted, but there are only "
            f"{len(set(annotators))}: add annotators or lower the overlap.",
            overlap=overlap,
            annotators=len(set(annotators)),
        )
    order = shuffled(list(set(annotators)), seed=seed)
    load: Counter[int] = Counter()
    together: Counter[frozenset[int]] = Counter()
    planned = []
    for conversation in shuffled(conversations, seed=seed):
        chosen: list[int] = []
        for slot in range(overlap):
            annotator = _least_used(order, chosen, load, together)
            planned.append(Planned(conversation, annotator, slot, load[annotator]))
            load[annotator] += 1
            together.update(frozenset({annotator, other}) for other in chosen)
            chosen.append(annotator)
    return planned


def _least_used(
    order: Sequence[int],
    chosen: Sequence[int],
    load: Counter[int],
    together: Counter[frozenset[int]],
) -> int:
    free = [annotator for annotator in order if annotator not in chosen]
    return min(
        free,
        key=lambda one: (load[one], sum(together[frozenset({one, other})] for other in chosen)),
    )
