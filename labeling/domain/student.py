"""Student's t and the normal distribution without scipy, which takes 18 MB in every process.

The t distribution is an incomplete beta function, computed by its continued fraction.

References
----------
M. Abramowitz and I. A. Stegun, "Handbook of Mathematical Functions", 1964: 26.5.8 (the fraction),
26.7.1 (the distribution), 26.7.5 (the quantile by the normal one) and 6.1.47 (the ratio of gamma
functions). The fraction is evaluated as in
W. J. Lentz, "Generating Bessel functions in Mie scattering calculations using continued fractions",
Applied Optics 15, 1976.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import lru_cache
from itertools import count
from statistics import NormalDist

LARGE = 20.0  # from here on the series of the gamma ratio is exact to the last digits
NORMAL = 1e5  # degrees of freedom from which a series of the normal distribution is exact
TINY = 1e-300
CLOSE = 1e-16


def normal_quantile(chance: float) -> float:
    """The value that a standard normal variable stays below with this chance."""
    if chance in (0.0, 1.0):
        return math.copysign(math.inf, chance - 0.5)
    return NormalDist().inv_cdf(chance)


def t_below(t: float, df: float) -> float:
    """The chance that Student's t stays below this value.

    Examples
    --------
    >>> t_below(0.0, 3.0), round(t_below(12.706204736432095, 1.0), 12)
    (0.5, 0.975)
    """
    if df >= NORMAL:
        z = t - (t**3 + t) / (4 * df) + (13 * t**5 + 8 * t**3 + 3 * t) / (96 * df * df)
        return 0.5 * math.erfc(-z / math.sqrt(2))
    beyond = 0.5 * _beta_share(df, t * t)
    return beyond if t < 0 else 1 - beyond


@lru_cache(maxsize=1024)
def t_quantile(chance: float, df: float) -> float:
    """The value that Student's t stays below with this chance.

    Newton's steps; one that would leave the bracket is a bisection instead.

    Examples
    --------
    >>> round(t_quantile(0.975, 1.0), 9), round(t_quantile(0.025, 10.0), 9)
    (12.706204736, -2.228138852)
    """
    if chance < 0.5:
        return -t_quantile(1 - chance, df)
    if chance in (0.5, 1.0):
        return 0.0 if chance == 0.5 else math.inf
    t = _nearly(normal_quantile(chance), df)
    low, high = 0.0, math.inf
    while df < NORMAL:
        over = (1 - chance) - 0.5 * _beta_share(df, t * t)
        low, high = (low, t) if over > 0 else (t, high)
        following = t - over / _density(t, df)
        if not low < following < high:
            following = 2 * t if math.isinf(high) else (low + high) / 2
        if abs(following - t) <= 4 * CLOSE * t or following in (low, high):
            return following
        t = following
    return t


def _nearly(z: float, df: float) -> float:
    """The quantile by that of the normal distribution; exact for many degrees of freedom."""
    return z + (z**3 + z) / (4 * df) + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * df * df)


def _density(t: float, df: float) -> float:
    return math.exp(-(df + 1) / 2 * math.log1p(t * t / df) + _log_gamma_ratio(df / 2)) / math.sqrt(
        df * math.pi
    )


def _beta_share(df: float, square: float) -> float:
    """The regularised incomplete beta function of df/2 and 1/2 at df/(df + square)."""
    if square == 0:
        return 1.0
    if math.isinf(square):
        return 0.0
    a, x, rest = df / 2, df / (df + square), square / (df + square)
    front = math.exp(
        -a * math.log1p(square / df) + 0.5 * math.log(rest) + _log_gamma_ratio(a)
    ) / math.sqrt(math.pi)
    if x < (a + 1) / (a + 2.5):
        return front * _fraction(a, 0.5, x) / a
    return 1 - front * _fraction(0.5, a, rest) / 0.5


def _log_gamma_ratio(a: float) -> float:
    """The logarithm of gamma(a + 1/2) / gamma(a), without the cancellation of large numbers."""
    if a < LARGE:
        return math.lgamma(a + 0.5) - math.lgamma(a)
    inverse = 1 / a
    square = inverse * inverse
    series = -1 / 8 + square * (1 / 192 + square * (-1 / 640 + square * 17 / 14336))
    return 0.5 * math.log(a) + inverse * series


def _fraction(a: float, b: float, x: float) -> float:
    """The continued fraction of the incomplete beta function, by Lentz's method."""
    below = 1 / _not_zero(1 - (a + b) * x / (a + 1))
    above, value = 1.0, below
    for term in _terms(a, b, x):
        below = 1 / _not_zero(1 + term * below)
        above = _not_zero(1 + term / above)
        value *= below * above
        if abs(below * above - 1) < 3 * CLOSE:
            break
    return value


def _terms(a: float, b: float, x: float) -> Iterator[float]:
    for m in count(1):
        yield m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        yield -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))


def _not_zero(value: float) -> float:
    return value if abs(value) > TINY else TINY
