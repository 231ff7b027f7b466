"""Who labels what: a balanced, repeatable plan."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from labeling.domain.errors import RuleError
from labeling.domain.msgids import msgid


class TooFewAnnotators(RuleError, code="too_few_annotators"):
    """The overlap asks for more annotators than there are."""


class Planned(NamedTuple):
    """One conversation for one annotator; ``slot`` < overlap, ``position`` orders their queue."""

    conversation: int
    annotator: int
    slot: int
    position: int


def shuffled(
    items: Sequence[int], *, seed: int, rank: Mapping[int, int] | None = None
) -> list[int]:
    """The items in an order that depends on nothing but the items, the seed and their ranks.

    Items of a lower rank come first; equal ones are shuffled by the seed. An item without a rank
    has 0.

    Examples
    --------
    >>> shuffled([1, 2, 3], seed=0, rank={3: -1, 1: 1})
    [3, 2, 1]
    """
    order = sorted(items)
    random.Random(seed).shuffle(order)
    return sorted(order, key=lambda item: (rank or {}).get(item, 0))


def plan(
    conversations: Sequence[int],
    annotators: Sequence[int],
    *,
    overlap: int,
    seed: int,
    rank: Mapping[int, int] | None = None,
) -> list[Planned]:
    """Give each conversation to ``overlap`` annotators.

    The work is spread evenly (nobody gets two conversations more than another), and so are the
    pairs of annotators, because agreement is measured by pair. The same input and seed give the
    same plan. ``rank`` orders everybody's queue, as in
    :func:`shuffled`.

    Raises
    ------
    TooFewAnnotators
        If ``overlap`` is greater than the number of annotators.
    """
    people = sorted(set(annotators))
    if overlap > len(people):
        raise TooFewAnnotators(
            msgid(
                "{overlap} annotators per conversation are wanted, but there are only"
                " {people}: add annotators or lower the overlap."
            ),
            overlap=overlap,
            people=len(people),
            details={"overlap": overlap, "annotators": len(people)},
        )
    load: Counter[int] = Counter()
    together: Counter[frozenset[int]] = Counter()
    queue = shuffled(people, seed=seed)
    planned = []
    for conversation in shuffled(conversations, seed=seed, rank=rank):
        chosen: list[int] = []
        for slot in range(overlap):
            person = _least_busy(
                [each for each in queue if each not in chosen], load, together, chosen
            )
            planned.append(Planned(conversation, person, slot, load[person]))
            together.update(frozenset({person, other}) for other in chosen)
            chosen.append(person)
        load.update(chosen)
    return planned


def _least_busy(
    free: Sequence[int],
    load: Mapping[int, int],
    together: Mapping[frozenset[int], int],
    chosen: Sequence[int],
) -> int:
    """Of equal ones, who has met the others least."""
    return min(
        free,
        key=lambda person: (
            load[person],
            sum(together[frozenset({person, other})] for other in chosen),
        ),
    )
