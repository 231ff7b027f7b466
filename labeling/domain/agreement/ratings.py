"""The labels of all annotators on one grid of units, so that statistics are array sums."""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from labeling.domain.agreement.kappa import category_order

Ratings = Mapping[str, Sequence[Hashable]]
"""One annotator's labels: for each submitted conversation, one per unit, ``None`` if missing."""

MISSING = -1


@dataclass(frozen=True, slots=True)
class Grid:
    """Who labelled which unit how.

    ``codes`` has one row per annotator and one column per unit and holds positions in
    ``labels``, or ``MISSING``; ``conversation_of`` gives each unit's position in
    ``conversations``; ``submitted`` says who handed in which conversation.
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

    def tallies(self, a: int, b: int) -> NDArray[np.float64]:
        """What each shared conversation adds to the pair's tally (see :mod:`~.kappa`).

        Returns
        -------
        ndarray, shape (shared conversations, 3, labels)
        """
        left, right = self.codes[a], self.codes[b]
        both = (left != MISSING) & (right != MISSING)
        countings = ((left, both & (left == right)), (left, both), (right, both))
        shape = (len(self.conversations), len(self.labels))
        start = self.conversation_of * len(self.labels)
        rows = [
            np.bincount((start + codes)[is_rated], minlength=shape[0] * shape[1]).reshape(shape)
            for codes, is_rated in countings
        ]
        return np.stack(rows, axis=1)[self.shared(a, b)].astype(np.float64)

    def counts(self) -> NDArray[np.int64]:
        """How many annotators gave each unit each label, shape (units, labels)."""
        by_label = [(self.codes == code).sum(axis=0) for code in range(len(self.labels))]
        return np.stack(by_label, axis=1).astype(np.int64)


def grid(ratings: Mapping[str, Ratings]) -> Grid:
    """Lay out what each annotator submitted.

    Raises
    ------
    ValueError
        If two annotators give a conversation different numbers of units.
    """
    sizes = _sizes(ratings)
    seen = {
        label
        for by_conversation in ratings.values()
        for units in by_conversation.values()
        for label in units
    }
    labels: list[Hashable] = [0, 1]
    if not seen <= {0, 1, None}:
        labels = category_order(seen - {None})
    code: dict[Hashable, int] = {label: position for position, label in enumerate(labels)}
    code[None] = MISSING
    rows = [
        [
            code[label]
            for name, size in sizes.items()
            for label in by_conversation.get(name, [None] * size)
        ]
        for by_conversation in (ratings[annotator] for annotator in sorted(ratings))
    ]
    submitted = [[name in ratings[annotator] for name in sizes] for annotator in sorted(ratings)]
    return Grid(
        annotators=sorted(ratings),
        conversations=list(sizes),
        labels=labels,
        codes=np.array(rows, dtype=np.int64).reshape(len(ratings), sum(sizes.values())),
        conversation_of=np.repeat(np.arange(len(sizes)), list(sizes.values())),
        submitted=np.array(submitted, dtype=bool).reshape(len(ratings), len(sizes)),
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
