"""Cases that were tried several times: what one of k tries reaches, and what each of them does.

A run's figure is the mean over all tries. These reducers are read next to it from the same stored
values: they are no metrics, so nothing is gated, compared or declared by them. Each is the expected
value over all ways to draw k of the n tries that there are, which makes it unbiased for k new
tries of the same case.
"""

from collections.abc import Sequence
from math import comb


def pass_at_k(n: int, right: int, k: int) -> float | None:
    """The chance that at least one of k tries is right, of n tries of which some were.

    ``1 − C(n − right, k) / C(n, k)`` (Chen et al. 2021); undefined with fewer than k tries.

    Examples
    --------
    >>> pass_at_k(4, 1, 1), pass_at_k(4, 1, 2), pass_at_k(4, 1, 4)
    (0.25, 0.5, 1.0)
    >>> pass_at_k(4, 1, 5) is None
    True
    """
    _check(n, right)
    return None if not 1 <= k <= n else 1 - comb(n - right, k) / comb(n, k)


def all_of_k(n: int, right: int, k: int) -> float | None:
    """The chance that each of k tries is right: ``C(right, k) / C(n, k)``.

    Examples
    --------
    >>> all_of_k(4, 2, 1), all_of_k(4, 3, 2), all_of_k(4, 3, 4)
    (0.5, 0.5, 0.0)
    """
    _check(n, right)
    return None if not 1 <= k <= n else comb(right, k) / comb(n, k)


def highest_of_k(values: Sequence[float], k: int) -> float | None:
    """The expected highest of k of these values, drawn without putting one back.

    Examples
    --------
    >>> highest_of_k([0.0, 0.5, 1.0], 2)  # (0.5 + 1 + 1) / 3
    0.8333333333333334
    >>> highest_of_k([0.0, 0.5, 1.0], 1)
    0.5
    """
    n = len(values)
    if not 1 <= k <= n:
        return None
    ordered = enumerate(sorted(values))
    return sum(comb(below, k - 1) * value for below, value in ordered) / comb(n, k)


def lowest_of_k(values: Sequence[float], k: int) -> float | None:
    """The expected lowest of k of these values.

    Examples
    --------
    >>> lowest_of_k([0.0, 0.5, 1.0], 3)
    0.0
    """
    highest = highest_of_k([-value for value in values], k)
    return None if highest is None else 0.0 - highest


def _check(n: int, right: int) -> None:
    if not 0 <= right <= n:
        raise ValueError(f"{right} of {n} tries cannot be right")
