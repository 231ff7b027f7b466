"""Bootstrap over conversations: how much a figure would move with other conversations.

Messages of one conversation resemble each other, so conversations are drawn as
a whole. Every figure here is a function of sums over conversations, so only the
sums are resampled.
"""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

DRAWS = 1000
LEVEL = 0.95
_DRAWS_AT_ONCE = 4_000_000  # bounds memory at about 100 MB
_DRAWS_KEPT = 8_000_000  # 64 MB


def resampled_sums(totals: Array, *, seed: int, draws: int = DRAWS) -> Array:
    """Column sums of rows drawn with replacement, as many rows as there are.

    Parameters
    ----------
    totals
        Shape (conversations, columns): what each conversation adds to each sum.
    seed
        Equal seeds give equal draws; the order of the rows plays no part.

    Returns
    -------
    ndarray, shape (draws, columns)

    Raises
    ------
    ValueError
        Without rows to draw from.

    References
    ----------
    B. Efron, R. Tibshirani, "An Introduction to the Bootstrap", 1993, chapter 6.

    Examples
    --------
    >>> resampled_sums(np.array([[2.0], [2.0], [2.0]]), seed=0, draws=2).tolist()
    [[6.0], [6.0]]
    """
    return Sampler(seed=seed, draws=draws).sums(totals)


class Sampler:
    """:func:`resampled_sums` for many figures over equally many conversations.

    Which rows are drawn depends on the seed and on how many there are, not on what they hold; so
    the draws are made once and used for every table of that size.
    """

    def __init__(self, *, seed: int, draws: int = DRAWS) -> None:
        self._seed = seed
        self._draws = draws
        self._kept: tuple[int, Array] | None = None

    def sums(self, totals: Array) -> Array:
        if not len(totals):
            raise ValueError("resampled_sums: there is nothing to draw from")
        distinct, times = _distinct_rows(totals)
        if self._draws * len(totals) <= _DRAWS_KEPT:
            return self._counts_of(len(totals)) @ np.repeat(distinct, times, axis=0)
        if len(distinct) * 8 < len(totals):  # many rows alike: draw how often each kind comes up
            random = np.random.default_rng(self._seed)
            counts = random.multinomial(len(totals), times / len(totals), size=self._draws)
            return counts.astype(np.float64) @ distinct
        rows = np.repeat(distinct, times, axis=0)
        return np.concatenate([counts @ rows for counts in self._counts(len(rows))])

    def _counts_of(self, size: int) -> Array:
        if self._kept is None or self._kept[0] != size:
            self._kept = size, np.concatenate(list(self._counts(size)))
        return self._kept[1]

    def _counts(self, size: int) -> Iterator[Array]:
        """How often each row is drawn, some draws at a time."""
        random = np.random.default_rng(self._seed)
        step = max(1, _DRAWS_AT_ONCE // size)
        for done in range(0, self._draws, step):
            draws = min(step, self._draws - done)
            picks = random.integers(size, size=(draws, size)) + size * np.arange(draws)[:, None]
            counts = np.bincount(picks.ravel(), minlength=draws * size)
            yield counts.reshape(draws, size).astype(np.float64)


def interval(replicates: Array, *, level: float = LEVEL) -> tuple[float, float] | None:
    """Percentile interval of the finite replicates.

    Returns
    -------
    (low, high) or None
        ``None`` when fewer than half of the replicates have a value: what is left
        would describe the lucky draws, not the figure.

    Examples
    --------
    >>> interval(np.arange(101.0), level=0.5)
    (25.0, 75.0)
    """
    finite = replicates[np.isfinite(replicates)]
    if 2 * len(finite) < len(replicates) or not len(finite):
        return None
    low, high = np.quantile(finite, [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)


def _distinct_rows(totals: Array) -> tuple[Array, NDArray[np.int64]]:
    """Each different row once, sorted, and how often it occurs."""
    ordered = totals[np.lexsort(totals.T)]  # several times faster than np.unique(axis=0)
    starts = np.flatnonzero(np.r_[True, (ordered[1:] != ordered[:-1]).any(axis=1)])
    return ordered[starts], np.diff(np.r_[starts, len(ordered)])
