"""Who labels what: a balanced, repeatable plan."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import NamedTuple

from labeling.domain.errors import RuleError
from labeling.domain.msgids import msgid


class TooFewAnnotators(RuleError):
    """The overlap asks for more annotators than there are."""

    code = "too_few_annotators"


class UnfairQuotas(RuleError):
    """The numbers per person do not add up to the work that there is."""

    code = "unfair_quotas"


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
    quotas: Mapping[int, int] | None = None,
) -> list[Planned]:
    """Give each conversation to ``overlap`` annotators.

    The work is spread evenly (nobody gets two conversations more than another), or exactly as
    ``quotas`` says; and so are the pairs of annotators, because agreement is measured by pair.
    The same input and seed give the same plan. ``rank`` orders everybody's queue, as in
    :func:`shuffled`.

    Raises
    ------
    TooFewAnnotators
        If ``overlap`` is greater than the number of annotators.
    UnfairQuotas
        If ``quotas`` do not add up, or one person would get a conversation twice.
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
    if quotas is not None:
        quotas = {person: quotas.get(person, 0) for person in people}
        check_quotas(quotas, conversations=len(conversations), overlap=overlap)
    allocator = _Allocator(shuffled(people, seed=seed), quotas)
    order = shuffled(conversations, seed=seed, rank=rank)
    return [
        Planned(conversation, annotator, slot, position)
        for index, conversation in enumerate(order)
        for slot, (annotator, position) in enumerate(
            allocator.choose(overlap, left=len(order) - index)
        )
    ]


def check_quotas(quotas: Mapping[int, int], *, conversations: int, overlap: int) -> None:
    """Whether every place can be filled and nobody gets a conversation twice.

    Raises
    ------
    UnfairQuotas
        With what has to change.
    """
    places, planned = conversations * overlap, sum(quotas.values())
    if min(quotas.values(), default=0) < 0:
        raise UnfairQuotas(msgid("Nobody can get less than nothing: use numbers from 0."))
    if planned != places:
        raise UnfairQuotas(
            msgid(
                "{conversations} conversations by {overlap} are {places} assignments,"
                " but the numbers add up to {given}: add {change}."
            )
            if planned < places
            else msgid(
                "{conversations} conversations by {overlap} are {places} assignments,"
                " but the numbers add up to {given}: take {change} away."
            ),
            conversations=conversations,
            overlap=overlap,
            places=places,
            given=planned,
            change=abs(places - planned),
            details={"places": places, "given": planned},
        )
    if max(quotas.values(), default=0) > conversations:
        raise UnfairQuotas(
            msgid(
                "There are {conversations} conversations, and nobody can label one "
                "twice: {max} for one person are too many."
            ),
            conversations=conversations,
            max=max(quotas.values()),
            details={"conversations": conversations, "most": max(quotas.values())},
        )


class _Allocator:
    """Hands out one conversation after the other and counts who got how many, and with whom."""

    def __init__(self, people: Sequence[int], quotas: Mapping[int, int] | None) -> None:
        self._people = people
        self._quotas = quotas
        self._load: Counter[int] = Counter()
        self._together: Counter[frozenset[int]] = Counter()

    def choose(self, overlap: int, *, left: int) -> list[tuple[int, int]]:
        """The annotators of the next conversation, each with its position in their queue.

        ``left`` counts the conversations still to be handed out, this one included. A person who
        is to get that many gets every one of them; this keeps the quotas reachable to the end.
        """
        chosen = [person for person in self._people if self._coming(person) == left]
        while len(chosen) < overlap:
            chosen.append(self._next(chosen))
        placed = [(person, self._load[person]) for person in chosen]
        self._load.update(chosen)
        self._together.update(
            frozenset({person, other}) for n, person in enumerate(chosen) for other in chosen[:n]
        )
        return placed

    def _next(self, chosen: Sequence[int]) -> int:
        free = [
            person for person in self._people if person not in chosen and self._coming(person) != 0
        ]
        return min(
            free,
            key=lambda person: (
                self._share(person),
                sum(self._together[frozenset({person, other})] for other in chosen),
            ),
        )

    def _coming(self, person: int) -> int | None:
        """How many more a person is to get; None without quotas."""
        return None if self._quotas is None else self._quotas[person] - self._load[person]

    def _share(self, person: int) -> Fraction:
        """How far a person's work is handed out: the least far comes next."""
        return Fraction(self._load[person], 1 if self._quotas is None else self._quotas[person])
