"""How many of the best candidates to return, decided by what each is expected to be worth."""

from __future__ import annotations

from collections.abc import Sequence

BEYOND = 2.0
"""What a message beyond the usual number costs more: a soft cap."""


def choose(
    chances: Sequence[float],
    *,
    expected: float,
    precision: float,
    price: float,
    least: int = 1,
    most: int = 5,
) -> int:
    """How many of the best candidates to return: those with the highest expected worth.

    An answer is worth its recall, plus a share of its precision, less its length. No fixed number:
    a cap that drops likely evidence was how evidence used to get lost.

    Parameters
    ----------
    chances
        Of each candidate to be evidence, best first.
    expected
        How many messages of evidence there are in all, as far as one can tell.
    precision
        Worth of full precision, in units of full recall.
    price
        What every returned message costs; beyond ``most`` more.
    least
        Never fewer, or what there is.
    """
    best, best_worth = 0, float("-inf")
    hits, paid = 0.0, 0.0
    total = max(expected, 1.0)
    for count, chance in enumerate(chances, start=1):
        hits += chance
        paid += price * (BEYOND if count > most else 1.0)
        value = min(hits / total, 1.0) + precision * hits / count - paid
        if count <= least or value > best_worth:
            best, best_worth = count, value
    return best
