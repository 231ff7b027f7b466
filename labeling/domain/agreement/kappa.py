"""Agreement statistics for nominal labels, each ``None`` where chance leaves nothing to correct.

Two annotators are summed up in a *tally* of shape (…, 3, categories): how often
both chose a category, how often the first one did, how often the second one did.
All pairwise figures are functions of it, so many tallies (bootstrap draws) are
computed at once.
"""

from collections.abc import Hashable, Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

BANDS = (
    (0.20, "slight"),
    (0.40, "fair"),
    (0.60, "moderate"),
    (0.80, "substantial"),
    (1.00, "almost perfect"),
)


def cohen_kappa(a: Sequence[Hashable], b: Sequence[Hashable]) -> float | None:
    """Agreement of two annotators beyond chance: (p_o − p_e)/(1 − p_e).

    Parameters
    ----------
    a, b
        The labels of the same units in the same order; nominal, of equal length.

    Returns
    -------
    float or None
        In [−1, 1], higher is better; 0 is what chance gives. ``None`` without units,
        and when both used the same single label throughout (p_e = 1).

    Raises
    ------
    ValueError
        If the lengths differ.

    References
    ----------
    J. Cohen, "A coefficient of agreement for nominal scales", Educational and
    Psychological Measurement 20, 1960, doi:10.1177/001316446002000104.

    Examples
    --------
    p_o = 6/8, p_e = (5·5 + 3·3)/64 = 34/64, so (48 − 34)/(64 − 34) = 14/30.

    >>> round(cohen_kappa([1, 1, 0, 1, 0, 1, 1, 0], [1, 1, 0, 1, 1, 1, 0, 0]), 4)
    0.4667
    >>> cohen_kappa([1, 1], [1, 1]) is None
    True
    """
    return defined(kappas(_tally(a, b, "cohen_kappa")))


def gwet_ac1(a: Sequence[Hashable], b: Sequence[Hashable]) -> float | None:
    """Agreement beyond chance that stays stable when one label is rare.

    Chance agreement is Σ π(1 − π)/(q − 1) over the q categories, with π the mean
    share of both annotators. Labels of one category only are read as two categories,
    of which one was never used.

    Returns
    -------
    float or None
        In [−1, 1], higher is better. ``None`` without units.

    References
    ----------
    K. L. Gwet, "Computing inter-rater reliability and its variance in the presence of
    high agreement", British Journal of Mathematical and Statistical Psychology 61,
    2008, doi:10.1348/000711006X126600.

    Examples
    --------
    π = 5/8 for both labels' shares (5/8, 3/8): p_e = 2·(5/8)(3/8) = 30/64; (48 − 30)/(64 − 30).

    >>> round(gwet_ac1([1, 1, 0, 1, 0, 1, 1, 0], [1, 1, 0, 1, 1, 1, 0, 0]), 4)
    0.5294
    """
    return defined(ac1s(_tally(a, b, "gwet_ac1")))


def fleiss_kappa(counts: NDArray[np.int64]) -> float | None:
    """Agreement of any number of annotators beyond chance.

    Parameters
    ----------
    counts
        Shape (units, categories): how many annotators gave the unit that label. The
        number of annotators may differ between units; units with fewer than two
        are left out. With equal numbers this is Fleiss' original statistic.

    Returns
    -------
    float or None
        At most 1, higher is better. ``None`` without such units, and when all
        labels are the same.

    References
    ----------
    J. L. Fleiss, "Measuring nominal scale agreement among many raters", Psychological
    Bulletin 76, 1971, doi:10.1037/h0031619; for missing ratings K. L. Gwet, "Handbook of
    Inter-Rater Reliability", 4th edition, 2014, chapter 2.

    Examples
    --------
    Observed (1 + 1/3)/2 = 2/3; shares 5/6 and 1/6, chance 26/36; (24 − 26)/(36 − 26).

    >>> round(fleiss_kappa(np.array([[3, 0], [2, 1]])), 4)
    -0.2
    """
    rated, raters = _pairable(counts)
    if not len(rated):
        return None
    pairs = (rated * (rated - 1)).sum(axis=1) / (raters * (raters - 1))
    shares = (rated / raters[:, None]).mean(axis=0)
    if np.count_nonzero(shares) < 2:
        return None
    chance = float((shares**2).sum())
    return float((pairs.mean() - chance) / (1 - chance))


def krippendorff_alpha(counts: NDArray[np.int64]) -> float | None:
    """Reliability of nominal labels from any number of annotators, ratings may be missing.

    Parameters
    ----------
    counts
        Shape (units, categories), as for :func:`fleiss_kappa`; units with fewer
        than two ratings say nothing about agreement and are left out.

    Returns
    -------
    float or None
        At most 1, higher is better; 0 is what chance gives. ``None`` without such
        units, and when all labels are the same.

    References
    ----------
    K. Krippendorff, "Computing Krippendorff's alpha-reliability", 2011,
    https://repository.upenn.edu/asc_papers/43.

    Examples
    --------
    Six labels, five of one and one of the other: 6·2/2 + 2·1/2 + 0 = 4 of 6 agree, and
    α = 1 − (6 − 1)(6 − 4)/(36 − 26) = 0.

    >>> round(krippendorff_alpha(np.array([[3, 0], [2, 1]])), 4)
    0.0
    """
    rated, raters = _pairable(counts)
    total = float(raters.sum())
    by_label = rated.sum(axis=0)
    if np.count_nonzero(by_label) < 2:
        return None
    agreeing = float(((rated * (rated - 1)).sum(axis=1) / (raters - 1)).sum())
    expected = total**2 - float((by_label**2).sum())
    return 1 - (total - 1) * (total - agreeing) / expected


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


def kappas(tallies: Array) -> Array:
    """Cohen's kappa of each tally; NaN where it is undefined."""
    both, first, second = np.moveaxis(tallies, -2, 0)
    size = first.sum(axis=-1)
    chance = (first * second).sum(axis=-1)  # p_e · n², in whole numbers and therefore exact
    return _ratio(size * both.sum(axis=-1) - chance, size**2 - chance)


def ac1s(tallies: Array) -> Array:
    """Gwet's AC1 of each tally; NaN where it is undefined."""
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


def _tally(a: Sequence[Hashable], b: Sequence[Hashable], name: str) -> Array:
    if len(a) != len(b):
        raise ValueError(f"{name}: {len(a)} labels against {len(b)}")
    codes = {label: code for code, label in enumerate(category_order([*a, *b]))}
    tally = np.zeros((3, len(codes)))
    for left, right in zip(a, b, strict=True):
        tally[0, codes[left]] += left == right
        tally[1, codes[left]] += 1
        tally[2, codes[right]] += 1
    return tally


def _pairable(counts: NDArray[np.int64]) -> tuple[Array, Array]:
    raters = counts.sum(axis=1)
    return counts[raters >= 2].astype(np.float64), raters[raters >= 2].astype(np.float64)


def _ratio(numerator: Array, denominator: Array) -> Array:
    numerator, denominator = np.broadcast_arrays(numerator, denominator)
    undefined = np.full(numerator.shape, np.nan)
    return np.asarray(np.divide(numerator, denominator, out=undefined, where=denominator != 0))
