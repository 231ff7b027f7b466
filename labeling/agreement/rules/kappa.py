"""Agreement statistics for nominal labels, each ``None`` where chance leaves nothing to correct.

Two annotators are summed up in a *tally* of shape (…, 3, categories): how often
both chose a category, how often the first one did, how often the second one did.
All pairwise figures are functions of it, and many tallies (each with one
conversation left out) are computed at once.
"""

from collections.abc import Hashable, Iterable, Sequence
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

Level = Literal["nominal", "interval"]
"""How far two labels that differ are apart: equally far, or by their values."""
LEVELS: tuple[Level, ...] = get_args(Level)

ROUNDING = 1e-9
"""Sums of shares that should be 0 may be so far off."""

SQUARES_ROUNDING = 1e-12
"""A smaller share of the sums of squares is a rounding error of scores like 7.3, so 0."""

BANDS = (
    (0.20, "slight"),
    (0.40, "fair"),
    (0.60, "moderate"),
    (0.80, "substantial"),
    (1.00, "almost perfect"),
)


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
    return 1 - apart / by_chance if by_chance > SQUARES_ROUNDING * len(a) * squares else None


def overall_sums(counts: NDArray[np.int64], weights: Array | None = None) -> Array:
    """What each unit adds to Fleiss' κ and to α; zeros where fewer than two labeled it.

    Parameters
    ----------
    counts
        Shape (units, categories): how many annotators gave the unit that label. Their number may
        differ between units.
    weights
        What two labels agree (see :func:`weights_of`); None where they are either equal or not.

    Returns
    -------
    ndarray, shape (units, 3 + 2 · categories)
        Disagreement by the pairs of labels and by labels; whether it counts; the share of each
        category, and the number of labels of each.
    """
    raters = counts.sum(axis=-1)
    rated = np.where(raters[:, None] >= 2, counts, 0).astype(np.float64)
    raters = np.maximum(raters, 2).astype(np.float64)
    differing = (rated * (rated @ _disagreement(counts.shape[1], weights))).sum(axis=-1)
    return np.column_stack(
        [
            differing / (raters * (raters - 1)),
            differing / (raters - 1),
            rated.any(axis=1),
            rated / raters[:, None],
            rated,
        ]
    )


def fleiss_of(sums: Array, weights: Array | None = None) -> Array:
    """Fleiss' κ of each row of :func:`overall_sums`, summed; NaN where it is undefined.

    References
    ----------
    J. L. Fleiss, "Measuring nominal scale agreement among many raters", Psychological
    Bulletin 76, 1971, doi:10.1037/h0031619; for missing ratings K. L. Gwet, "Handbook of
    Inter-Rater Reliability", 4th edition, 2014, chapter 2.

    Examples
    --------
    Observed (1 + 1/3)/2 = 2/3; shares 5/6 and 1/6, chance 26/36; (24 − 26)/(36 − 26).

    >>> round(float(fleiss_of(overall_sums(np.array([[3, 0], [2, 1]])).sum(axis=0))), 4)
    -0.2
    """
    shares, _ = _categories(sums)
    by_chance = (shares * (shares @ _disagreement(shares.shape[-1], weights))).sum(axis=-1)
    alike = np.count_nonzero(shares > ROUNDING, axis=-1) < 2
    chance = np.where(alike, 0.0, by_chance)
    return 1 - _ratio(sums[..., 0] * sums[..., 2], chance)


def alpha_of(sums: Array, weights: Array | None = None) -> Array:
    """Krippendorff's α of each row of :func:`overall_sums`, summed; NaN where it is undefined.

    With quadratic weights this is the interval α.

    References
    ----------
    K. Krippendorff, "Computing Krippendorff's alpha-reliability", 2011,
    https://repository.upenn.edu/asc_papers/43.

    Examples
    --------
    Six labels, five of one and one of the other: of 36 − 26 = 10 pairs drawn by chance all
    differ, 4 · 1/2 = 2 within units; α = 1 − (6 − 1) · 2/10 = 0.

    >>> round(float(alpha_of(overall_sums(np.array([[3, 0], [2, 1]])).sum(axis=0))), 4)
    0.0
    """
    _, labels = _categories(sums)
    expected = (labels * (labels @ _disagreement(labels.shape[-1], weights))).sum(axis=-1)
    alike = np.count_nonzero(labels > ROUNDING, axis=-1) < 2
    chance = np.where(alike, 0.0, expected)
    return 1 - _ratio((labels.sum(axis=-1) - 1) * sums[..., 1], chance)


def quadratic_weights(labels: Sequence[float]) -> Array:
    """How far two scores agree: 1 if equal, 0 at the ends of the scale, by squared distance.

    Examples
    --------
    >>> quadratic_weights([0, 1, 2]).tolist()
    [[1.0, 0.75, 0.0], [0.75, 1.0, 0.75], [0.0, 0.75, 1.0]]
    """
    scores = np.asarray(labels, dtype=np.float64)
    apart = (scores[:, None] - scores[None, :]) ** 2
    return np.asarray(1 - apart / (apart.max() or 1.0))


def weights_of(level: Level, labels: Sequence[Any]) -> Array | None:
    """What two labels agree; None where they are either equal or not."""
    return None if level == "nominal" else quadratic_weights(labels)


def _disagreement(categories: int, weights: Array | None) -> Array:
    return 1 - (np.eye(categories) if weights is None else weights)


def _categories(sums: Array) -> tuple[Array, Array]:
    middle = 3 + (sums.shape[-1] - 3) // 2
    return sums[..., 3:middle], sums[..., middle:]


def band(kappa: float | None) -> str | None:
    """The words of Landis and Koch for a kappa, made contiguous.

    References
    ----------
    J. R. Landis, G. G. Koch, "The measurement of observer agreement for categorical
    data", Biometrics 33, 1977, doi:10.2307/2529310.

    Examples
    --------
    >>> [band(kappa) for kappa in (-0.1, 0, 0.2, 0.21, 0.4667, 0.8, 0.81)]
    ['poor', 'slight', 'slight', 'fair', 'moderate', 'substantial', 'almost perfect']
    >>> band(None) is None
    True
    """
    if kappa is None:
        return None
    if kappa < 0:
        return "poor"
    return next((name for upper, name in BANDS if kappa <= upper), BANDS[-1][1])


def kappas(tallies: Array, weights: Array | None = None) -> Array:
    """Cohen's kappa of each tally, (p_o − p_e)/(1 − p_e); NaN where it is undefined.

    In [−1, 1]; 0 is what chance gives. Undefined without units, and when both used the same single
    label throughout (p_e = 1). With ``weights`` (see :func:`quadratic_weights`), by which the
    tallies must have been made.

    References
    ----------
    J. Cohen, "A coefficient of agreement for nominal scales", Educational and
    Psychological Measurement 20, 1960, doi:10.1177/001316446002000104.

    Examples
    --------
    p_o = 6/8, p_e = (5·5 + 3·3)/64 = 34/64, so (48 − 34)/(64 − 34) = 14/30.

    >>> round(float(kappas(np.array([[2, 4], [3, 5], [3, 5]]))), 4)
    0.4667
    """
    both, first, second = np.moveaxis(tallies, -2, 0)
    size = first.sum(axis=-1)
    if weights is not None:
        second = second @ weights
    chance = (first * second).sum(axis=-1)  # p_e · n², in whole numbers and therefore exact
    return _ratio(size * both.sum(axis=-1) - chance, size**2 - chance)


def ac1s(tallies: Array) -> Array:
    """Gwet's AC1 of each tally, which stays stable when one label is rare; NaN where undefined.

    Chance agreement is Σ π(1 − π)/(q − 1) over the q categories, with π the mean share of both
    annotators. Labels of one category only are read as two, of which one was never used.

    References
    ----------
    K. L. Gwet, "Computing inter-rater reliability and its variance in the presence of
    high agreement", British Journal of Mathematical and Statistical Psychology 61,
    2008, doi:10.1348/000711006X126600.
    """
    both, first, second = np.moveaxis(tallies, -2, 0)
    size = first.sum(axis=-1)
    share = _ratio(first + second, 2 * size[..., None])
    used = np.count_nonzero(first + second, axis=-1)
    chance = (share * (1 - share)).sum(axis=-1) / (np.maximum(used, 2) - 1)
    return _ratio(_ratio(both.sum(axis=-1), size) - chance, 1 - chance)


def category_order(labels: Iterable[Hashable]) -> list[Hashable]:
    """The distinct labels, sorted by type and value."""
    return sorted(set(labels), key=lambda label: (type(label).__name__, label))


def defined(value: Array | float) -> float | None:
    """NaN is how arrays say undefined; outside of them it is ``None``."""
    return None if np.isnan(value) else float(value)


def _ratio(numerator: Array, denominator: Array) -> Array:
    numerator, denominator = np.broadcast_arrays(numerator, denominator)
    undefined = np.full(numerator.shape, np.nan)
    return np.asarray(np.divide(numerator, denominator, out=undefined, where=denominator != 0))
