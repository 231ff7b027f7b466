"""One metric over all cases of a run, with the counts that belong beside the figure.

Every figure of a run is Σ numerators / Σ weights over its cases: a mean where each case weighs 1, a
micro average where it weighs as much as it counted. Comparing two runs, slicing one and planning
another work on the same :class:`Share` of each case, so there is one figure under each name.
"""

import math
import statistics
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray

from evaluation.metrics.metric import Metric, Share, Value
from labeling.domain.uncertainty import ratio


@dataclass(frozen=True, slots=True)
class Summary:
    """The aggregate of one metric.

    ``n`` is the number of cases behind ``mean``, failed ones included; ``n_undefined``
    had no value and are left out; ``n_failed`` are those whose pipeline failed. All
    figures are ``None`` when ``n`` is 0. The interval is for new conversations: it is ``None``
    when all cases come from one of them, because that says nothing about others.
    """

    mean: float | None
    median: float | None
    std: float | None
    min: float | None
    max: float | None
    ci_low: float | None
    ci_high: float | None
    n: int
    n_undefined: int
    n_failed: int
    conversations: int


FIGURES = tuple(field.name for field in fields(Summary))
"""What every aggregate reports, in order."""


def contribution(metric: Metric, value: Value, *, failed: bool) -> Share | None:
    """What a case adds to the sums behind the run's figure; ``None`` where it has no value.

    A failed case counts with the metric's worst value, in a micro average with all of its weight
    (1 where it has none): crashing must never raise a score.

    Examples
    --------
    >>> recall = Metric("recall", 1, frozenset(), "Recall", "")
    >>> contribution(recall, Value(0.25), failed=False)
    Share(numerator=0.25, denominator=1.0)
    >>> pooled = Metric("recall", 1, frozenset(), "Recall", "", scope="micro")
    >>> contribution(pooled, Value(0.5, share=Share(2, 4)), failed=True)
    Share(numerator=0.0, denominator=4)
    """
    if metric.scope == "micro":
        return _at_worst(value.share, metric.worst) if failed else value.share
    number = metric.worst if failed else value.value
    return None if number is None else Share(number, 1.0)


def figure(metric: Metric, shares: Sequence[Share]) -> float | None:
    """The figure of some cases: the worst value where nothing is left to divide by.

    Examples
    --------
    (1 + 1)/(1 + 3), where the mean of the cases would be (1/1 + 1/3)/2.

    >>> pooled = Metric("recall", 1, frozenset(), "Recall", "", scope="micro")
    >>> figure(pooled, [Share(1, 1), Share(1, 3)])
    0.5
    """
    if not shares:
        return None
    weight = math.fsum(share.denominator for share in shares)
    if weight == 0:
        return metric.worst
    return math.fsum(share.numerator for share in shares) / weight


def summarize(
    metric: Metric,
    values: Sequence[Value],
    *,
    clusters: Sequence[Hashable],
    failed: Sequence[bool],
) -> Summary:
    """A metric's figure over all cases, with its spread and its interval for new conversations.

    Parameters
    ----------
    metric
        Says how cases are averaged, and the range of the values.
    values
        One per case; undefined ones are left out, never taken as 0.
    clusters
        The conversation of each case: cases of one conversation rise and fall together, so the
        interval counts conversations (:func:`labeling.domain.uncertainty.ratio`).
    failed
        Whether the case's pipeline failed.

    Returns
    -------
    Summary
        ``mean`` is the figure of :func:`figure`; median, spread and range are those of the
        cases' own values. ``std`` is the sample standard deviation (n − 1), 0.0 for one case.
        Independent of the order of the cases, up to rounding.

    Raises
    ------
    ValueError
        If the three sequences differ in length.

    Examples
    --------
    >>> from labeling.domain.facts import Fact
    >>> recall = Metric("recall", 1, frozenset(), "Recall", "")
    >>> values = [Value(1.0), Value(None, Fact("metric.no_reference")), Value(0.5)]
    >>> result = summarize(recall, values, clusters="abc", failed=[False] * 3)
    >>> result.mean, result.n, result.n_undefined, result.conversations
    (0.75, 2, 1, 2)
    """
    if not len(values) == len(clusters) == len(failed):
        raise ValueError(
            f"summarize: {len(values)} values, {len(clusters)} clusters, {len(failed)} failed flags"
        )
    cases = list(zip(values, failed, strict=True))
    shares = [contribution(metric, value, failed=broke) for value, broke in cases]
    numbers = [metric.worst if broke else value.value for value, broke in cases]
    defined = sorted(number for number in numbers if number is not None)
    totals = by_cluster(shares, clusters)
    estimate = ratio(totals, lower=metric.lower, upper=metric.upper)
    return Summary(
        mean=figure(metric, [share for share in shares if share is not None]),
        median=statistics.median(defined) if defined else None,
        std=_std(defined) if defined else None,
        min=defined[0] if defined else None,
        max=defined[-1] if defined else None,
        ci_low=estimate.low if estimate else None,
        ci_high=estimate.high if estimate else None,
        n=len(defined),
        n_undefined=len(values) - len(defined),
        n_failed=sum(map(bool, failed)),
        conversations=estimate.conversations if estimate else 0,
    )


def by_cluster(
    shares: Sequence[Sequence[float] | None], clusters: Sequence[Hashable], *, columns: int = 2
) -> NDArray[np.float64]:
    """What the cases of each conversation add: shape (conversations, columns).

    Conversations are in the order in which they come; those without a value have no row.
    """
    counted = [
        (share, cluster)
        for share, cluster in zip(shares, clusters, strict=True)
        if share is not None
    ]
    position = {
        cluster: index for index, cluster in enumerate(dict.fromkeys(c for _, c in counted))
    }
    totals = np.zeros((len(position), columns))
    if counted:
        rows = np.asarray([share for share, _ in counted], dtype=float)
        np.add.at(totals, [position[cluster] for _, cluster in counted], rows)
    return totals


def _at_worst(share: Share | None, worst: float) -> Share:
    weight = max(share.denominator, 1.0) if share else 1.0
    return Share(worst * weight, weight)


def _std(values: Sequence[float]) -> float:
    return float(np.std(values, ddof=1)) if len(values) > 1 else 0.0
