"""Is one run better than another? Paired by conversation, by the figure that the runs show.

Two questions are answered, and never mixed. *On new conversations*: conversations are the unit,
and the verdict rests on this. *On these conversations*: other cases of the same conversations
would show the difference, or not.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal

import numpy as np
from numpy.typing import NDArray

from evaluation.metrics.metric import Metric, Share
from evaluation.metrics.summary import by_cluster, figure
from labeling.domain.uncertainty import (
    LEVEL,
    Estimate,
    detectable,
    difference,
    on_these_conversations,
)

Verdict = Literal["better", "worse", "no_difference", "undecided", "not_measurable", "identical"]

ALPHA = 0.05
MARGIN = 0.03
"""The smallest difference of interest, as a share of the metric's range, unless a project says."""

TOLERANCE = 1e-9  # differences below it are a tie
MOST_CONVERSATIONS = 1_000_000
NORMAL_QUANTILE = 1.959964


@dataclass(frozen=True, slots=True)
class Comparison:
    """One metric of two runs on the cases that both were asked.

    ``n`` cases have a value in both runs. ``before`` and ``after`` are the figures over these, by
    the function that the run page uses, and ``difference`` is after − before with its interval
    and two-sided ``p_value`` for new conversations. ``detectable`` is the smallest true difference
    that this test, with this number of conversations and the spread seen, finds in four of five
    tries, ``None`` if it is larger than the metric's range; ``std_error`` and ``df`` are those
    behind it. ``here_low``, ``here_high`` and ``here_p_value`` answer for other cases of the same
    conversations.

    Of the ``n`` cases ``wins`` are better in the metric's direction, ``losses`` worse and ``ties``
    equal; ``n_undefined`` have no value in at least one run. ``n_before`` and ``n_after`` count
    those with a value in each.
    Interval and p value are ``None`` with fewer than two conversations, figures where no case has
    a value.
    """

    n: Annotated[int, "Cases with a value in both runs"]
    n_undefined: int
    n_before: Annotated[int, "Cases with a value in the baseline"]
    n_after: Annotated[int, "Cases with a value in the run"]
    conversations: int
    before: Annotated[float | None, "The baseline's figure"]
    after: Annotated[float | None, "The run's figure"]
    difference: float | None
    ci_low: float | None
    ci_high: float | None
    p_value: float | None
    std_error: float | None
    df: float | None
    detectable: float | None
    here_low: float | None
    here_high: float | None
    here_p_value: float | None
    wins: int
    losses: int
    ties: int


def compare(
    before: Sequence[Share | None],
    after: Sequence[Share | None],
    *,
    clusters: Sequence[Hashable],
    metric: Metric,
    level: float = LEVEL,
) -> Comparison:
    """Compare two runs on the same cases.

    Parameters
    ----------
    before, after
        What each case adds to the figure of each run, paired by position; ``None`` is undefined.
        A case that is undefined in one run plays no part in either figure: what one run leaves out
        makes it neither better nor worse.
    clusters
        The conversation of each case.
    metric
        Says how the figure is made, its range, and which way is better.
    level
        Of the interval and of ``detectable``: 0.95 unless it is tested with others.

    Raises
    ------
    ValueError
        If the three sequences differ in length.

    Examples
    --------
    >>> recall = Metric("recall", 1, frozenset(), "Recall", "")
    >>> old = [Share(value, 1) for value in (0.0, 0.0, 1.0)]
    >>> new = [Share(value, 1) for value in (1.0, 0.0, 1.0)]
    >>> result = compare(old, new, clusters="abc", metric=recall)
    >>> round(result.difference, 3), result.wins, result.ties, round(result.p_value, 3)
    (0.333, 1, 2, 0.423)
    """
    if not len(before) == len(after) == len(clusters):
        raise ValueError(f"compare: {len(before)}, {len(after)} and {len(clusters)} values")
    shared = [
        (old, new, cluster)
        for old, new, cluster in zip(before, after, clusters, strict=True)
        if old is not None and new is not None
    ]
    olds, news = [old for old, _, _ in shared], [new for _, new, _ in shared]
    changes = [_value(new, metric.worst) - _value(old, metric.worst) for old, new, _ in shared]
    gains = changes if metric.direction == "higher" else [-change for change in changes]
    return Comparison(
        n=len(changes),
        n_undefined=len(before) - len(changes),
        n_before=sum(share is not None for share in before),
        n_after=sum(share is not None for share in after),
        before=figure(metric, olds),
        after=figure(metric, news),
        **_inference(olds, news, [cluster for _, _, cluster in shared], metric, level),
        wins=sum(gain > TOLERANCE for gain in gains),
        losses=sum(gain < -TOLERANCE for gain in gains),
        ties=sum(abs(gain) <= TOLERANCE for gain in gains),
    )


def verdict(
    comparison: Comparison,
    metric: Metric,
    *,
    p_value: float | None,
    margin: float = MARGIN,
) -> Verdict:
    """What may be concluded for new conversations.

    Parameters
    ----------
    p_value
        That of the comparison, corrected for what else is tested (:func:`holm`).
    margin
        The smallest difference of interest, as a share of the metric's range.

    Returns
    -------
    Verdict
        ``better`` and ``worse`` where test and interval exclude 0; ``no_difference`` where the
        interval lies within ± margin around 0 and a rare large change would have been seen
        (:func:`may_be_unseen`); ``undecided`` otherwise, also with fewer than two conversations;
        ``not_measurable`` where a run has no figure. The caller alone knows of ``identical``: that
        every output is the same.
    """
    if comparison.difference is None:
        return "not_measurable"
    low, high = comparison.ci_low, comparison.ci_high
    if low is None or high is None or p_value is None:
        return "undecided"
    if p_value < ALPHA and (low > 0 or high < 0):
        return "better" if (low > 0) == (metric.direction == "higher") else "worse"
    if lies_within(comparison, metric, margin) and not may_be_unseen(comparison, margin):
        return "no_difference"
    return "undecided"


def lies_within(comparison: Comparison, metric: Metric, margin: float = MARGIN) -> bool:
    """Whether the interval holds 0 and nothing that is of interest."""
    low, high, reach = comparison.ci_low, comparison.ci_high, margin_of(metric, margin)
    if low is None or high is None or reach is None:
        return False
    return -reach <= low <= 0 <= high <= reach


def may_be_unseen(comparison: Comparison, margin: float = MARGIN) -> bool:
    """Whether a rare change of the whole range may have been missed in so few conversations."""
    return comparison.conversations < conversations_seen_by(margin)


def conversations_seen_by(margin: float) -> int:
    """From how many on Wilson's upper bound of 0 in N, times the range, is no more of interest.

    Examples
    --------
    >>> conversations_seen_by(0.03)
    125
    """
    return math.ceil(NORMAL_QUANTILE**2 * (1 / margin - 1))


def margin_of(metric: Metric, margin: float = MARGIN) -> float | None:
    """The smallest difference of interest in the metric's own unit; none without a range.

    Examples
    --------
    >>> round(margin_of(Metric("judged", 1, frozenset(), "", "", upper=10.0)), 6)
    0.3
    """
    span = metric.upper - metric.lower
    return margin * span if math.isfinite(span) else None


def within_range(effect: float, metric: Metric) -> float | None:
    """None for a difference that no two runs can have.

    Examples
    --------
    >>> recall = Metric("recall", 1, frozenset(), "Recall", "")
    >>> within_range(0.2, recall), within_range(1.3, recall), within_range(math.inf, recall)
    (0.2, None, None)
    """
    span = metric.upper - metric.lower
    return effect if effect <= span and math.isfinite(effect) else None


def level_for(tests: int) -> float:
    """Of the interval that goes with the strictest of this many tests that Holm makes together.

    Examples
    --------
    >>> level_for(1), level_for(5)
    (0.95, 0.99)
    """
    return 1 - ALPHA / max(1, tests)


def levels_of(p_values: Sequence[float | None]) -> list[float]:
    """Of the interval that goes with each test when Holm makes them together.

    It excludes 0 exactly where the corrected p value is below ``ALPHA``: of each test, what the
    others leave over.

    Examples
    --------
    >>> [round(level, 3) for level in levels_of([0.01, 0.2, 0.03])]
    [0.983, 0.975, 0.975]
    """
    return [
        level_for(
            sum(value is not None for value in p_values)
            - _rejected([*p_values[:own], 1.0, *p_values[own + 1 :]])
        )
        for own in range(len(p_values))
    ]


def _rejected(p_values: Sequence[float | None]) -> int:
    return sum(value is not None and value < ALPHA for value in holm(p_values))


def holm(p_values: Sequence[float | None]) -> list[float | None]:
    """p values corrected for being looked at together; undefined ones stay so and do not count.

    References
    ----------
    S. Holm, "A simple sequentially rejective multiple test procedure", 1979.

    Examples
    --------
    >>> holm([0.01, None, 0.04, 0.03])
    [0.03, None, 0.06, 0.06]
    """
    known = sorted((value, index) for index, value in enumerate(p_values) if value is not None)
    corrected: list[float | None] = [None] * len(p_values)
    floor = 0.0
    for rank, (value, index) in enumerate(known):
        floor = max(floor, min(1.0, value * (len(known) - rank)))
        corrected[index] = floor
    return corrected


def best_of(p_value: float, runs: int) -> float:
    """The p value of a run that was chosen because it came out best of this many.

    Bonferroni's bound: it holds however much the runs resemble each other.

    Examples
    --------
    >>> best_of(0.01, 4), best_of(0.3, 4)
    (0.04, 1.0)
    """
    return min(1.0, p_value * max(1, runs))


def conversations_needed(
    std_error: float, df: float, conversations: int, effect: float, *, level: float = LEVEL
) -> int | None:
    """With how many conversations the test finds ``effect`` in four of five tries.

    At the spread seen: the standard error falls with the square root of the number of
    conversations, the degrees of freedom rise with it. ``None`` above a million.

    Examples
    --------
    >>> conversations_needed(0.05, 6.0, 7, 0.20), conversations_needed(0.05, 6.0, 7, 0.05)
    (6, 58)
    """
    low, high = 1, 2
    while detectable_with(high, std_error, df, conversations, level=level) > effect:
        low, high = high, 2 * high
        if high > MOST_CONVERSATIONS:
            return None
    while high - low > 1:
        middle = (low + high) // 2
        if detectable_with(middle, std_error, df, conversations, level=level) > effect:
            low = middle
        else:
            high = middle
    return high


def detectable_with(
    wanted: int, std_error: float, df: float, conversations: int, *, level: float = LEVEL
) -> float:
    """The smallest true difference found in four of five tries with ``wanted`` conversations.

    ``std_error`` and ``df`` are those of a comparison over ``conversations``.
    """
    if wanted < 2:
        return math.inf
    freedom = max(1.0, df * (wanted - 1) / max(1, conversations - 1))
    return detectable(std_error * math.sqrt(conversations / wanted), freedom, level=level)


def _value(share: Share, worst: float) -> float:
    return share.numerator / share.denominator if share.denominator else worst


def _inference(
    before: Sequence[Share],
    after: Sequence[Share],
    clusters: Sequence[Hashable],
    metric: Metric,
    level: float,
) -> dict[str, Any]:
    old, new = _table(before), _table(after)
    used = (old[:, 1] > 0) | (new[:, 1] > 0)
    owners = [cluster for cluster, counts in zip(clusters, used, strict=True) if counts]
    span = metric.upper - metric.lower
    estimate = difference(
        by_cluster(old[used].tolist(), owners),
        by_cluster(new[used].tolist(), owners),
        span=span if math.isfinite(span) else 1.0,
        level=level,
    )
    here = _here(old[used], new[used], owners, level) if estimate else None
    std_error = df = None
    if estimate is not None and estimate.high is not None:
        std_error, df = estimate.std_error, estimate.df
        if std_error is None or df is None:  # no spread was seen, which does not mean none is
            std_error = (estimate.high - estimate.value) / NORMAL_QUANTILE
            df = estimate.conversations - 1.0
        estimate = estimate.within(span)
    return {
        "conversations": estimate.conversations if estimate else len(set(owners)),
        "difference": estimate.value if estimate else None,
        "ci_low": estimate.low if estimate else None,
        "ci_high": estimate.high if estimate else None,
        "p_value": estimate.p_value if estimate else None,
        "std_error": std_error,
        "df": df,
        "detectable": None
        if std_error is None or df is None
        else within_range(detectable(std_error, df, level=level), metric),
        "here_low": here.low if here else None,
        "here_high": here.high if here else None,
        "here_p_value": here.p_value if here else None,
    }


def _table(shares: Sequence[Share]) -> NDArray[np.float64]:
    return np.array(shares, dtype=float).reshape(-1, 2)


def _here(
    old: NDArray[np.float64], new: NDArray[np.float64], owners: Sequence[Hashable], level: float
) -> Estimate | None:
    """What each case adds to the difference of the figures, by conversation."""
    totals = [table.sum(axis=0) for table in (old, new)]
    influences = [
        (table[:, 0] - total[0] / total[1] * table[:, 1]) / total[1]
        for table, total in zip((old, new), totals, strict=True)
    ]
    change = totals[1][0] / totals[1][1] - totals[0][0] / totals[0][1]
    values = change + len(owners) * (influences[1] - influences[0])
    by_owner: dict[Hashable, list[float]] = {}
    for owner, value in zip(owners, values.tolist(), strict=True):
        by_owner.setdefault(owner, []).append(value)
    return on_these_conversations([np.array(row) for row in by_owner.values()], level=level)
