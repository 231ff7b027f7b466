"""Cases that were tried several times: what one of k tries reaches, and what each of them does.

A run's figure is the mean over all tries. These reducers are read next to it from the same stored
values: they are no metrics, so nothing is gated, compared or declared by them. Each is the expected
value over all ways to draw k of the n tries that there are, which makes it unbiased for k new
tries of the same case.
"""

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


def _check(n: int, right: int) -> None:
    if not 0 <= right <= n:
        raise ValueError(f"{right} of {n} tries cannot be right")
