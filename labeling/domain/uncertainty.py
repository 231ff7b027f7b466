"""Intervals and tests for figures over few conversations.

The conversation is the independent unit: messages, labels and questions of one conversation rise
and fall together. Every figure here is a ratio of sums over conversations (a mean is Σ values / Σ
cases), so each function takes a table with one row per conversation. Interval and test of a
figure come from the same construction, so an interval that excludes 0 and a test that finds
nothing cannot stand side by side.

References
----------
R. M. Bell, D. F. McCaffrey, "Bias reduction in standard errors for linear regression with
multi-stage samples", Survey Methodology 28, 2002 (CR2 and the degrees of freedom);
J. E. Pustejovsky, E. Tipton, "Small-sample methods for cluster-robust variance estimation and
hypothesis testing in fixed effects models", Journal of Business & Economic Statistics 36, 2018.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

LEVEL = 0.95
POWER = 0.8
EDGE = 0.05
"""Nearer than this share of the range to an end, counts decide and not the spread alone."""

PRIOR_ICC = 0.1
"""How alike the cases of one conversation are taken to be where the data cannot say."""

TELLING = 20
"""So many conversations that hold something other than the edge say it themselves."""

SMALLEST_VARIANCE = 1e-18


@dataclass(frozen=True, slots=True)
class Estimate:
    """A figure over conversations, and how far off it may be for new ones.

    ``std_error`` and ``df`` are those of the cluster-robust variance on the figure's own scale;
    ``None``, with ``low`` and ``high``, where fewer than two conversations say nothing about
    others. ``p_value`` (two-sided, against 0) is given for differences alone.
    """

    value: float
    low: float | None
    high: float | None
    std_error: float | None
    df: float | None
    conversations: int
    p_value: float | None = None

    def within(self, span: float) -> Estimate:
        """A difference of two figures without what lies beyond the length of their range.

        No difference lies there, so the interval covers the true one exactly as often.
        """
        if self.low is None or self.high is None:
            return self
        return replace(self, low=max(self.low, -span), high=min(self.high, span))


def ratio(
    totals: Array, *, lower: float = 0.0, upper: float = 1.0, level: float = LEVEL
) -> Estimate | None:
    """Σ numerators / Σ weights over conversations, with its interval for new conversations.

    Parameters
    ----------
    totals
        Shape (conversations, 2): what each conversation adds to numerator and weight.
    lower, upper
        The ends of the figure's range; infinite where it has none.
    level
        Of the interval.

    Returns
    -------
    Estimate or None
        ``None`` where the weights sum to 0. The interval is a t interval on the logit scale of
        the range with CR2 variance and Satterthwaite's degrees of freedom. Within ``EDGE`` of an
        end of the range, where fewer than ``TELLING`` conversations hold anything else, also
        Wilson's interval on the effective number of cases, and the wider of the two counts, so
        that agreeing cases never give an interval of length 0.

    Examples
    --------
    >>> recall = ratio(np.array([[5.0, 10.0], [6.0, 10.0], [7.0, 10.0]]))
    >>> round(recall.value, 3), round(recall.low, 3), round(recall.high, 3), round(recall.df, 1)
    (0.6, 0.348, 0.809, 2.0)
    >>> perfect = ratio(np.array([[9.0, 9.0], [9.0, 9.0]]))
    >>> perfect.value, round(perfect.low, 2), perfect.high
    (1.0, 0.72, 1.0)
    """
    totals = totals[totals[:, 1] > 0]
    weights = totals[:, 1]
    if not len(totals):
        return None
    value, influence = _pooled(totals)
    if len(totals) < 2:
        return Estimate(value, None, None, None, None, len(totals))
    variance, df = _cluster_robust(influence, weights)
    std_error = math.sqrt(variance)
    bounded = math.isfinite(lower) and math.isfinite(upper)
    if bounded:
        low, high = _bounded_interval(totals, value, variance, df, lower, upper, level)
    else:
        reach = t_quantile(df, level) * std_error
        low, high = max(value - reach, lower), min(value + reach, upper)
    return Estimate(value, low, high, std_error, df, len(totals))


def chance_of_ratio_above(
    totals: Array, threshold: float, *, lower: float = 0.0, upper: float = 1.0
) -> float | None:
    """How probable it is that the true ratio is above the threshold.

    Read from the ends of the intervals of :func:`ratio` at every level: .975 where the threshold is
    the lower end of the one at .95. ``None`` without an interval.

    Examples
    --------
    >>> totals = np.array([[5.0, 10.0], [6.0, 10.0], [7.0, 10.0]])
    >>> low = ratio(totals).low
    >>> round(chance_of_ratio_above(totals, low), 3)
    0.975
    """
    whole = ratio(totals, lower=lower, upper=upper)
    if whole is None or whole.low is None:
        return None
    is_above = whole.value >= threshold
    inside, outside = 0.0, 1.0
    for _ in range(30):
        level = (inside + outside) / 2
        ends = ratio(totals, lower=lower, upper=upper, level=level)
        assert ends is not None
        end = ends.low if is_above else ends.high
        assert end is not None
        inside, outside = (level, outside) if (end > threshold) == is_above else (inside, level)
    return (1 + inside) / 2 if is_above else (1 - inside) / 2


def difference(
    before: Array, after: Array, *, span: float = 1.0, level: float = LEVEL
) -> Estimate | None:
    """The difference of two ratios on the same conversations, paired, for new conversations.

    Parameters
    ----------
    before, after
        As for :func:`ratio`, row by row the same conversations.
    span
        The length of the figure's range: how far apart two runs could be at all.

    Returns
    -------
    Estimate or None
        after − before, with CR2 interval and p value of the same t. ``None`` where either
        figure is undefined. Where no conversation differs from another, there is no spread to
        take a t from: interval and p value then say how large a share of new cases could differ
        by the whole span and not have been seen (Wilson, effective number of cases), and
        conversations that agree by chance are counted as signs.
    """
    shares = [table[:, 1].sum() for table in (before, after)]
    if min(shares) <= 0:
        return None
    (earlier, pulled_before), (later, pulled_after) = _pooled(before), _pooled(after)
    value = later - earlier
    used = (before[:, 1] > 0) | (after[:, 1] > 0)
    count = int(used.sum())
    if count < 2:
        return Estimate(value, None, None, None, None, count)
    weights = (
        (before[used, 1] / shares[0] + after[used, 1] / shares[1]) * (shares[0] + shares[1]) / 4
    )
    variance, df = _cluster_robust((pulled_after - pulled_before)[used], weights)
    if variance <= SMALLEST_VARIANCE:
        return _without_spread(value, span, effective_cases(weights), count, level)
    std_error = math.sqrt(variance)
    p_value = t_p_value(value / std_error, df)
    reach = t_quantile(df, level) * std_error
    return Estimate(value, value - reach, value + reach, std_error, df, count, p_value)


def skill(run: Array, floor: Array, ceiling: Array, *, span: float = 1.0) -> Estimate | None:
    """(run − floor)/(ceiling − floor) of three ratios on the same conversations.

    Parameters
    ----------
    run, floor, ceiling
        As for :func:`ratio`, row by row the same conversations.
    span
        The length of the figure's range.

    Returns
    -------
    Estimate or None
        With Fieller's interval: the values θ at which a t test with CR2 variance does not refute
        run − floor = θ (ceiling − floor), so it needs no approximation for a ratio of two uncertain
        differences. ``None`` where that interval has no end, because floor and ceiling may be the
        same by that test or by :func:`difference`, and with fewer than two conversations. Where no
        conversation differs from another, the interval is that of :func:`difference`, by the
        distance of floor and ceiling.

    References
    ----------
    E. C. Fieller, "Some problems in interval estimation", Journal of the Royal Statistical
    Society B 16, 1954.

    Examples
    --------
    >>> cases = np.full(4, 10.0)
    >>> of = lambda *sums: np.column_stack([np.array(sums), cases])
    >>> seen = skill(of(4.0, 5.0, 6.0, 5.0), of(2.0, 2.0, 2.0, 2.0), of(8.0, 8.0, 9.0, 7.0))
    >>> round(seen.value, 3), round(seen.low, 2), round(seen.high, 2)
    (0.5, 0.31, 0.69)
    """
    tables = (run, floor, ceiling)
    if min(table[:, 1].sum() for table in tables) <= 0:
        return None
    apart = difference(floor, ceiling, span=span)
    gained = difference(floor, run, span=span)
    if apart is None or gained is None or not excludes_zero(apart):
        return None
    used = np.any([table[:, 1] > 0 for table in tables], axis=0)
    shares = [table[used, 1] / table[:, 1].sum() for table in tables]
    of_run, of_floor, of_ceiling = (_pooled(table)[1][used] for table in tables)
    top, bottom = of_run - of_floor, of_ceiling - of_floor
    weights = np.mean(shares, axis=0) * len(shares[0])
    top_variance, df = _cluster_robust(top, weights)
    bottom_variance, _ = _cluster_robust(bottom, weights)
    both_variance, _ = _cluster_robust(top + bottom, weights)
    covariance = (both_variance - top_variance - bottom_variance) / 2
    value = gained.value / apart.value
    count = int(used.sum())
    spread = top_variance - 2 * value * covariance + value**2 * bottom_variance
    if spread <= SMALLEST_VARIANCE:
        if gained.high is None:
            return None
        reach = (gained.high - gained.value) / abs(apart.value)
        return Estimate(value, value - reach, value + reach, None, None, count)
    t = t_quantile(df)
    square = apart.value**2 - t**2 * bottom_variance
    if square <= 0:
        return None
    half = gained.value * apart.value - t**2 * covariance
    rest = gained.value**2 - t**2 * top_variance
    root = math.sqrt(max(0.0, half**2 - square * rest))
    std_error = math.sqrt(spread) / abs(apart.value)
    return Estimate(value, (half - root) / square, (half + root) / square, std_error, df, count)


def excludes_zero(estimate: Estimate) -> bool:
    """Whether the interval says that the figure is not 0; never without an interval."""
    low, high = estimate.low, estimate.high
    return low is not None and high is not None and (low > 0 or high < 0)


def _without_spread(
    value: float, span: float, cases: float, conversations: int, level: float
) -> Estimate:
    """Wilson's interval of 0 unseen cases, z²/(n + z²) of the span, and the p value it inverts to.

    Signs alone give 2 · ½^conversations, so fewer than six agreeing conversations exclude nothing.
    """
    share = min(abs(value) / span, 1 - 1e-12)
    z = math.sqrt(cases * share / (1 - share))
    by_signs = 2.0 ** (1 - conversations)
    p_value = 1.0 if abs(value) < 1e-9 else max(math.erfc(z / math.sqrt(2)), by_signs)
    reach = span * wilson(0.0, cases, _normal_quantile(level))[1]
    if by_signs >= 1 - level:
        reach = max(reach, abs(value))
    return Estimate(value, value - reach, value + reach, None, None, conversations, p_value)


def on_these_conversations(values: Sequence[Array], *, level: float = LEVEL) -> Estimate | None:
    """The mean over cases, for other cases of the same conversations.

    Parameters
    ----------
    values
        For each conversation the values (or paired differences) of its cases.

    Returns
    -------
    Estimate or None
        Conversations are strata: their own means are fixed, only cases vary within them. With
        Satterthwaite's degrees of freedom over the strata. No interval where no conversation
        has two cases: then only the question about new conversations can be asked.
    """
    values = [row for row in values if len(row)]
    count = sum(map(len, values))
    if not count:
        return None
    value = float(sum(row.sum() for row in values) / count)
    spread = [
        (len(row) * row.var(ddof=1) / count**2, len(row) - 1) for row in values if len(row) > 1
    ]
    if not spread or sum(len(row) == 1 for row in values):
        return Estimate(value, None, None, None, None, len(values))
    variance = sum(part for part, _ in spread)
    if variance <= SMALLEST_VARIANCE:
        return Estimate(value, value, value, 0.0, None, len(values))
    df = variance**2 / sum(part**2 / freedom for part, freedom in spread)
    std_error = math.sqrt(variance)
    reach = t_quantile(df, level) * std_error
    return Estimate(
        value,
        value - reach,
        value + reach,
        std_error,
        df,
        len(values),
        t_p_value(value / std_error, df),
    )


def jackknife(
    value: float, left_out: Array, *, lower: float = -1.0, upper: float = 1.0, level: float = LEVEL
) -> Estimate:
    """The interval of any figure by leaving each conversation out once.

    Parameters
    ----------
    value
        The figure over all conversations, inside of its range.
    left_out
        The figure without each conversation, NaN where it is undefined then.
    lower, upper
        The ends of the range. The figure is stretched to all numbers by atanh over this range:
        Fisher's z for coefficients between −1 and 1.

    Returns
    -------
    Estimate
        With t of (conversations − 1); ``std_error`` is on the stretched scale. No interval with
        fewer than two conversations, or where the figure is at an end of its range or becomes
        undefined when one conversation is left out.

    References
    ----------
    R. G. Miller, "The jackknife – a review", Biometrika 61, 1974.

    Examples
    --------
    >>> kappa = jackknife(0.7, np.array([0.68, 0.70, 0.72, 0.69, 0.71]))
    >>> round(kappa.low, 2), round(kappa.high, 2), kappa.df
    (0.61, 0.77, 4.0)
    """
    count = len(left_out)
    span = (upper - lower) / 2
    shifted = (np.append(left_out, value) - lower) / span - 1
    if count < 2 or not (np.abs(shifted) < 1).all():  # also where one of them is NaN
        return Estimate(value, None, None, None, None, count)
    *parts, whole = np.arctanh(shifted)
    pseudo = count * whole - (count - 1) * np.asarray(parts)
    std_error = float(math.sqrt(pseudo.var(ddof=1) / count))
    df = count - 1.0
    reach = t_quantile(df, level) * std_error
    low, high = (lower + span * (1 + math.tanh(end)) for end in (whole - reach, whole + reach))
    return Estimate(value, low, high, std_error, df, count)


def chance_above(
    estimate: Estimate, threshold: float, *, lower: float = -1.0, upper: float = 1.0
) -> float | None:
    """How probable it is that the true coefficient, inside of its range, is above the threshold.

    By the same t as the interval of :func:`jackknife`, read as a fiducial probability: .975
    where the threshold is the interval's lower end. ``None`` without an interval.

    Examples
    --------
    >>> kappa = jackknife(0.7, np.array([0.68, 0.70, 0.72, 0.69, 0.71]))
    >>> round(chance_above(kappa, kappa.low), 3), chance_above(kappa, 0.7)
    (0.975, 0.5)
    """
    if estimate.std_error is None or estimate.df is None:
        return None
    span = (upper - lower) / 2
    place, bar = ((value - lower) / span - 1 for value in (estimate.value, threshold))
    away = math.atanh(place) - math.atanh(bar)
    if estimate.std_error == 0:
        return 0.5 if away == 0 else float(away > 0)
    return t_below(away / estimate.std_error, estimate.df)


def detectable(std_error: float, df: float, *, level: float = LEVEL, power: float = POWER) -> float:
    """The smallest true difference that the t test of this standard error finds in 4 of 5 tries.

    The standard error was estimated with ``df`` degrees of freedom, so on average it is too small
    by the factor of a standard deviation's bias, which is made good here.

    Examples
    --------
    With many degrees of freedom 1.960 + 0.842 standard errors; with 3 it is 4.26/0.921.

    >>> round(detectable(1.0, 1e6), 2), round(detectable(1.0, 3.0), 2)
    (2.8, 4.62)
    """
    from scipy.special import gammaln, nctdtr

    critical = t_quantile(df, level)
    low, high = 0.0, 2 * critical + 10.0
    for _ in range(60):
        middle = (low + high) / 2
        # The other tail adds less than 0.001 here, and scipy has no value of it with 1 degree.
        reached = 1 - nctdtr(df, middle, critical)
        low, high = (middle, high) if reached < power else (low, middle)
    bias = math.sqrt(2 / df) * math.exp(gammaln((df + 1) / 2) - gammaln(df / 2))
    return high * std_error / bias


# scipy takes 21 MB, which a web process spends only once it shows an interval.


def t_quantile(df: float, level: float = LEVEL) -> float:
    """How many standard errors an interval of this level reaches, by Student's t."""
    from scipy.special import stdtrit

    return float(stdtrit(df, (1 + level) / 2))


def t_below(t: float, df: float) -> float:
    """The chance that Student's t stays below this value."""
    from scipy.special import stdtr

    return float(stdtr(df, t))


def t_p_value(t: float, df: float) -> float:
    """Two-sided."""
    return 2 * t_below(-abs(t), df)


def _normal_quantile(level: float) -> float:
    return NormalDist().inv_cdf((1 + level) / 2) if level < 1 else math.inf


def wilson(share: float, cases: float, z: float) -> tuple[float, float]:
    """Wilson's interval of a share; ``cases`` may be an effective number.

    References
    ----------
    E. B. Wilson, "Probable inference, the law of succession, and statistical inference",
    Journal of the American Statistical Association 22, 1927.
    """
    scale = 1 + z * z / cases
    centre = (share + z * z / (2 * cases)) / scale
    reach = z / scale * math.sqrt(share * (1 - share) / cases + z * z / (4 * cases * cases))
    low = max(0.0, centre - reach) if share > 0 else 0.0
    return low, min(1.0, centre + reach) if share < 1 else 1.0


def effective_cases(weights: Array) -> float:
    """The number of independent cases by the assumed ``PRIOR_ICC``; weights count cases."""
    total = float(weights.sum())
    size = float((weights**2).sum()) / total
    return total / max(1.0, 1 + (size - 1) * PRIOR_ICC)


def _pooled(table: Array) -> tuple[float, Array]:
    """The ratio of the sums, and how far each conversation pulls it."""
    weight = table[:, 1].sum()
    figure = float(table[:, 0].sum() / weight)
    return figure, (table[:, 0] - figure * table[:, 1]) / weight


def _cluster_robust(influence: Array, weights: Array) -> tuple[float, float]:
    """CR2 variance of Σ influence, and Satterthwaite's degrees of freedom.

    The leverage of a conversation is its share of the weight; the working model has independent
    cases, so a conversation's sum varies with its weight.
    """
    leverage = weights / weights.sum()
    scale = 1 / (1 - leverage)
    variance = float((influence**2 * scale).sum())
    # Covariance of the conversations' residual sums under the working model, times the scale;
    # its traces in closed form, so that 10,000 conversations need no matrix of that size.
    diagonal = leverage * (1 - leverage) * scale  # = leverage
    off = (leverage * np.sqrt(scale)) ** 2
    trace = diagonal.sum()
    squares = (diagonal**2).sum() + off.sum() ** 2 - (off**2).sum()
    return variance, max(1.0, float(trace**2 / squares))


def _bounded_interval(
    totals: Array,
    value: float,
    variance: float,
    df: float,
    lower: float,
    upper: float,
    level: float,
) -> tuple[float, float]:
    span = upper - lower
    share = (value - lower) / span
    t = t_quantile(df, level)
    inside = 0 < share < 1 and variance > SMALLEST_VARIANCE
    ends = []
    if inside:
        reach = t * math.sqrt(variance) / span / (share * (1 - share))
        at = math.log(share / (1 - share))
        ends.append((_logistic(at - reach), _logistic(at + reach)))
    shares = (totals[:, 0] / totals[:, 1] - lower) / span
    telling = min(int((shares > 0).sum()), int((shares < 1).sum()))
    if not inside or (not EDGE <= share <= 1 - EDGE and telling < TELLING):
        z = t if inside else _normal_quantile(level)
        ends.append(wilson(min(max(share, 0.0), 1.0), effective_cases(totals[:, 1]), z))
    return lower + span * min(low for low, _ in ends), lower + span * max(high for _, high in ends)


def _logistic(x: float) -> float:
    return 1 / (1 + math.exp(-x)) if x >= 0 else math.exp(x) / (1 + math.exp(x))
