"""Chance levels: what a random answer of the same size is expected to score.

A random answer holds as many different messages as the real one, drawn without replacement from
the conversation. The probabilities are hypergeometric and exact.
"""

from functools import lru_cache
from math import comb, prod

import numpy as np
from numpy.typing import NDArray

ROUNDING = 1e-9
"""A chance level this close to 1 is 1: the rest is rounding, which must not become a divisor."""


@lru_cache(maxsize=512)
def missed(size: int, drawn: int) -> NDArray[np.float64]:
    """How likely ``drawn`` of ``size`` messages miss m certain ones: C(n − m, b)/C(n, b).

    Returns
    -------
    array
        Read-only, at index m for m from 0 to ``size``.

    Examples
    --------
    >>> missed(4, 2).round(3).tolist()
    [1.0, 0.5, 0.167, 0.0, 0.0]
    """
    remaining = np.arange(size, 0, -1)
    factors = np.maximum(remaining - drawn, 0) / remaining
    probabilities = np.concatenate([[1.0], np.cumprod(factors)])
    probabilities.flags.writeable = False
    return probabilities


def expected_best_overlap(wanted: int, draws: tuple[int, ...], size: int) -> float:
    """The largest overlap with ``wanted`` certain messages to be expected of independent draws.

    Σ P(the largest is at least x) over x from 1; it is below x if every draw's overlap is.

    Examples
    --------
    One message drawn twice: at least one of the draws hits one of two in four with 1 − 1/2².

    >>> expected_best_overlap(2, (1, 1), 4)
    0.75
    """
    overlaps = range(1, wanted + 1)
    return sum(
        1 - prod(_overlap_below(overlap, wanted, drawn, size) for drawn in draws)
        for overlap in overlaps
    )


def over_chance(value: float | None, chance: float | None) -> float | None:
    """(value − chance)/(1 − chance): 0 is as good as a random answer, 1 is the best possible.

    ``None`` without either, and where a random answer already reaches the best value.

    Examples
    --------
    >>> round(over_chance(0.9, 0.8), 3)
    0.5
    >>> over_chance(1.0, 1.0) is None
    True
    """
    if value is None or chance is None or chance > 1 - ROUNDING:
        return None
    return (value - chance) / (1 - chance)


def _overlap_below(overlap: int, wanted: int, drawn: int, size: int) -> float:
    overlaps = range(min(overlap, drawn + 1))
    ways = sum(comb(wanted, x) * comb(size - wanted, drawn - x) for x in overlaps)
    return ways / comb(size, drawn)
