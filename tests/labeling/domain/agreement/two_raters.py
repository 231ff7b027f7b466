"""What two annotators say of the same eight units."""

from collections.abc import Sequence

from labeling.agreement.rules.agreement import agreement

A = [1, 1, 0, 1, 0, 1, 1, 0]
B = [1, 1, 0, 1, 1, 1, 0, 0]


def cohen_kappa(a: Sequence[int], b: Sequence[int]) -> float | None:
    [pair] = agreement({"ana": {"c": a}, "ben": {"c": b}}).pairs
    return pair.kappa
