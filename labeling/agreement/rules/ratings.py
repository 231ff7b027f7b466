"""The labels of all annotators on one grid of units, so that statistics are array sums."""

import math
from array import array
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

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
    codes: NDArray[np.signedinteger[Any]]
    conversation_of: NDArray[np.int64]
    submitted: NDArray[np.bool_]
    has_gaps: bool

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
        if self.has_gaps:
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
    codes = np.empty((len(ratings), sum(sizes.values())), dtype=np.min_scalar_type(-len(code)))
    for row, annotator in zip(codes, sorted(ratings), strict=True):
        row[:] = _coded(ratings[annotator], sizes, code)
    submitted = [[name in ratings[annotator] for name in sizes] for annotator in sorted(ratings)]
    return Grid(
        annotators=sorted(ratings),
        conversations=list(sizes),
        labels=labels,
        codes=codes,
        conversation_of=np.repeat(np.arange(len(sizes)), list(sizes.values())),
        submitted=np.array(submitted, dtype=bool).reshape(len(ratings), len(sizes)),
        has_gaps=bool((codes == MISSING).any()),
    )


def _coded(
    own: Ratings, sizes: Mapping[str, int], code: Mapping[Hashable, int]
) -> NDArray[np.signedinteger[Any]]:
    """One annotator's labels of all conversations, missing where they did not submit it."""
    laid_out = (own[name] if name in own else [None] * size for name, size in sizes.items())
    labels = array("i", map(code.__getitem__, chain.from_iterable(laid_out)))
    return np.frombuffer(labels, dtype=np.int32)


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
