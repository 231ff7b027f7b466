"""The labels of all annotators on one grid of units, so that statistics are array sums."""

import math
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from labeling.agreement.rules.kappa import category_order

Array = NDArray[np.float64]
Ratings = Mapping[str, Sequence[Hashable]]
"""One annotator's labels: for each submitted conversation, one per unit, ``None`` if missing."""

MISSING = -1


@dataclass(frozen=True, slots=True)
class Grid:
    """Who labeled which unit how.

    ``codes`` has one row per annotator and one column per unit and holds positions in
    ``labels``, or ``MISSING``; ``conversation_of`` gives each unit's position in
    ``conversations``, in their order; ``submitted`` says who handed in which conversation.
    """

    annotators: list[str]
    conversations: list[str]
    labels: list[Hashable]
    codes: NDArray[np.int64]
    conversation_of: NDArray[np.int64]
    submitted: NDArray[np.bool_]

    @property
    def is_binary(self) -> bool:
        """Whether the labels are 0 and 1, so that one of them means "marked"."""
        return self.labels == [0, 1]

    def shared(self, a: int, b: int) -> NDArray[np.int64]:
        """Positions of the conversations that both annotators submitted."""
        return np.flatnonzero(self.submitted[a] & self.submitted[b])

    def crossed(self, a: int, b: int) -> Array:
        """How often the two gave which labels in each conversation; zeros where not both did.

        Returns
        -------
        ndarray, shape (conversations, labels of a, labels of b)
        """
        left, right = self.codes[a], self.codes[b]
        size = len(self.labels)
        cells = (self.conversation_of * size + left) * size + right
        cells = cells[(left != MISSING) & (right != MISSING)]
        shape = (len(self.conversations), size, size)
        crossed = np.bincount(cells, minlength=math.prod(shape)).reshape(shape)
        return crossed.astype(np.float64)

    def counts(self) -> NDArray[np.int64]:
        """How many annotators gave each unit each label, shape (units, labels)."""
        by_label = [(self.codes == code).sum(axis=0) for code in range(len(self.labels))]
        return np.stack(by_label, axis=1).astype(np.int64)

    def summed(self, of_units: Callable[[NDArray[np.int64]], Array]) -> Array:
        """What the :meth:`counts` of the units add, a row for each conversation."""
        rows = of_units(self.counts())
        sums = np.zeros((len(self.conversations), rows.shape[1]))
        starts = np.flatnonzero(np.diff(self.conversation_of, prepend=-1))
        if len(starts):
            sums[self.conversation_of[starts]] = np.add.reduceat(rows, starts)
        return sums


def tallied(crossed: Array, weights: Array | None = None) -> Array:
    """Tallies (see :mod:`~.kappa`) of tables of the labels of two people."""
    alike = crossed.diagonal(axis1=-2, axis2=-1)
    agreed = alike if weights is None else (crossed * weights).sum(axis=-1)
    turned = np.swapaxes(crossed, -1, -2)
    return np.stack([agreed, crossed.sum(axis=-1), turned.sum(axis=-1)], axis=-2)


def grid(ratings: Mapping[str, Ratings]) -> Grid:
    """Lay out what each annotator submitted.

    Raises
    ------
    ValueError
        If two annotators give a conversation different numbers of units.
    """
    sizes = _sizes(ratings)
    seen: set[Hashable] = set()
    for by_conversation in ratings.values():
        seen.update(*by_conversation.values())
    labels: list[Hashable] = [0, 1]
    if not seen <= {0, 1, None}:
        labels = category_order(seen - {None})
    code: dict[Hashable, int] = {label: position for position, label in enumerate(labels)}
    code[None] = MISSING
    people = [ratings[annotator] for annotator in sorted(ratings)]
    codes = [
        code[label]
        for own in people
        for name, size in sizes.items()
        for label in (own[name] if name in own else [None] * size)
    ]
    submitted = [[name in own for name in sizes] for own in people]
    return Grid(
        annotators=sorted(ratings),
        conversations=list(sizes),
        labels=labels,
        codes=np.array(codes, dtype=np.int64).reshape(len(people), sum(sizes.values())),
        conversation_of=np.repeat(np.arange(len(sizes)), list(sizes.values())),
        submitted=np.array(submitted, dtype=bool).reshape(len(people), len(sizes)),
    )


def _sizes(ratings: Mapping[str, Ratings]) -> dict[str, int]:
    """The number of units of each conversation, in order of conversation."""
    first: dict[str, tuple[str, int]] = {}
    for annotator, by_conversation in ratings.items():
        for conversation, units in by_conversation.items():
            other, size = first.setdefault(conversation, (annotator, len(units)))
            if size != len(units):
                raise ValueError(
                    f"agreement: conversation {conversation} has {size} units from {other} "
                    f"and {len(units)} from {annotator}"
                )
    return {conversation: first[conversation][1] for conversation in sorted(first)}
