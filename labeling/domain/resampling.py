"""Bootstrap over conversations: how much a figure would move with other conversations.

Messages of one conversation resemble each other, so conversations are drawn as
a whole. Every figure here is a function of sums over conversations, so only the
sums are resampled.
"""

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

DRAWS = 1000
LEVEL = 0.95
_DRAWS_AT_ONCE = 4_000_000  # bounds memory at about 100 MB


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
        If there is no row to draw.

    References
    ----------
    B. Efron, R. Tibshirani, "An Introduction to the Bootstrap", 1993, chapter 6.

    Examples
    --------
    >>> resampled_sums(np.array([[2.0], [2.0], [2.0]]), seed=0, draws=2).tolist()
    [[6.0], [6.0]]
    """
    if not len(totals):
        raise ValueError("resampled_sums: there is nothing to draw from")
    random = np.random.default_rng(seed)
    distinct, times = _distinct_rows(totals)
    if len(distinct) * 8 < len(totals):  # many rows alike: draw how often each kind comes up
        counts = random.multinomial(len(totals), times / len(totals), size=draws)
        return counts.astype(np.float64) @ distinct
    rows = np.repeat(distinct, times, axis=0)
    step = max(1, _DRAWS_AT_ONCE // len(rows))
    parts = [_drawn(rows, min(step, draws - done), random) for done in range(0, draws, step)]
    return np.concatenate(parts)


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
    """Each different row once, in an order of their own, and how often it occurs."""
    ordered = totals[np.lexsort(totals.T)]  # several times faster than np.unique(axis=0)
    starts = np.flatnonzero(np.r_[True, (ordered[1:] != ordered[:-1]).any(axis=1)])
    return ordered[starts], np.diff(np.r_[starts, len(ordered)])


def _drawn(rows: Array, draws: int, random: np.random.Generator) -> Array:
    size = len(rows)
    picks = random.integers(size, size=(draws, size)) + size * np.arange(draws)[:, None]
    counts = np.bincount(picks.ravel(), minlength=draws * size).reshape(draws, size)
    return counts.astype(np.float64) @ rows
