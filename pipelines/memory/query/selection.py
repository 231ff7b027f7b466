"""How many of the best candidates to return, decided by what each is expected to be worth."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Worth:
    """What one answer is worth: its recall, plus a share of its precision, less its length."""

    precision: float
    """Worth of full precision, in units of full recall."""
    price: float
    """What every returned message costs."""
    least: int = 1
    most: int = 5
    """A soft cap: further messages cost ``beyond`` times as much, and only that."""
    beyond: float = 2.0


def choose(probabilities: Sequence[float], worth: Worth, *, expected: float) -> int:
    """How many of the best candidates to return: those with the highest expected worth.

    Parameters
    ----------
    probabilities
        Chance of each candidate to be evidence, best first.
    expected
        How many messages of evidence there are in all, as far as one can tell.

    Returns
    -------
    int
        The length of the prefix. Never below ``worth.least`` (or what there is), and no fixed
        number: a cap that drops likely evidence was how evidence used to get lost.
    """
    best, best_worth = 0, float("-inf")
    hits, paid = 0.0, 0.0
    total = max(expected, 1.0)
    for count, probability in enumerate(probabilities, start=1):
        hits += probability
        paid += worth.price * (worth.beyond if count > worth.most else 1.0)
        value = min(hits / total, 1.0) + worth.precision * hits / count - paid
        if count <= worth.least or value > best_worth:
            best, best_worth = count, value
    return best
