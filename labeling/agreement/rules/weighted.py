"""Agreement on scores that have an order: 0 against 2 is a worse disagreement than 1 against 2."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

ROUNDING = 1e-12
"""A smaller share of the sums of squares is a rounding error of scores like 7.3, so 0."""


def weighted_kappa(a: Sequence[float], b: Sequence[float]) -> float | None:
    """Cohen's kappa with quadratic weights: 1 − Σ(a − b)² / the same for pairs drawn by chance.

    Parameters
    ----------
    a, b
        The scores of the same items in the same order.

    Returns
    -------
    float or None
        In [−1, 1], higher is better; 0 is what chance gives. ``None`` without items, and when
        both gave the same single score throughout.

    Raises
    ------
    ValueError
        If the lengths differ.

    References
    ----------
    J. Cohen, "Weighted kappa: nominal scale agreement with provision for scaled disagreement or
    partial credit", Psychological Bulletin 70, 1968, doi:10.1037/h0026256.

    Examples
    --------
    Σ(a − b)² = 0 + 1 + 0 + 1 = 2. By chance: Σa² + Σb² − 2·Σa·Σb/n = 9 + 7 − 2·5·5/4 = 3.5.

    >>> round(weighted_kappa([2, 2, 0, 1], [2, 1, 0, 2]), 4)
    0.6364
    >>> weighted_kappa([1, 1], [1, 1]) is None
    True
    """
    if len(a) != len(b):
        raise ValueError(f"weighted_kappa: {len(a)} scores against {len(b)}")
    first, second = np.asarray(a, dtype=np.float64), np.asarray(b, dtype=np.float64)
    squares = float((first * first).sum() + (second * second).sum())
    apart = len(a) * (squares - 2 * float((first * second).sum()))
    by_chance = len(a) * squares - 2 * float(first.sum()) * float(second.sum())
    # everything times n, so that sums of whole numbers stay exact
    return 1 - apart / by_chance if by_chance > ROUNDING * len(a) * squares else None
