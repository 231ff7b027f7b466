"""One metric over all cases of a run, with the counts that belong beside the figure."""

import math
import statistics
from collections.abc import Hashable, Sequence
from dataclasses import asdict, dataclass, fields, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaluation.metrics.metric import Share
from labeling.domain.agreement.resampling import interval, resampled_sums


@dataclass(frozen=True, slots=True)
class Summary:
    """The aggregate of one metric.

    ``n`` is the number of cases behind ``mean``, failed ones included; ``n_undefined``
    had no value and are left out; ``n_failed`` are those whose pipeline failed. All
    figures are ``None`` when ``n`` is 0; the interval is also ``None`` when all cases
    come from one conversation, because there is nothing to draw from.
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

    def as_json(self) -> dict[str, Any]:
        return asdict(self)


FIGURES = tuple(field.name for field in fields(Summary))
"""What every aggregate reports, in order."""


def summarize(
    values: Sequence[float | None],
    *,
    clusters: Sequence[Hashable],
    failed: Sequence[bool],
    seed: int,
    worst: float = 0.0,
) -> Summary:
    """Mean, spread and interval of a metric's values.

    Parameters
    ----------
    values
        One per case; ``None`` is undefined and is left out, never taken as 0.
    clusters
        The conversation of each case: the interval resamples conversations, because
        cases of one conversation rise and fall together.
    failed
        Whether the case's pipeline failed. A failed case counts with ``worst``,
        whatever its value: crashing must never raise a score.
    seed
        Of the bootstrap.
    worst
        The worst value of the metric's range (``Metric.worst``).

    Returns
    -------
    Summary
        ``std`` is the sample standard deviation (n − 1), 0.0 for one case. Independent
        of the order of the cases.

    Raises
    ------
    ValueError
        If the three sequences differ in length.

    Examples
    --------
    >>> result = summarize([1.0, None, 0.5], clusters="abc", failed=[False] * 3, seed=0)
    >>> result.mean, result.n, result.n_undefined
    (0.75, 2, 1)
    """
    if not len(values) == len(clusters) == len(failed):
        raise ValueError(
            f"summarize: {len(values)} values, {len(clusters)} clusters, {len(failed)} failed flags"
        )
    scored = [worst if broke else value for value, broke in zip(values, failed, strict=True)]
    defined = sorted(value for value in scored if value is not None)
    low, high = _mean_interval(scored, clusters, seed=seed)
    return Summary(
        mean=math.fsum(defined) / len(defined) if defined else None,
        median=statistics.median(defined) if defined else None,
        std=_std(defined) if defined else None,
        min=defined[0] if defined else None,
        max=defined[-1] if defined else None,
        ci_low=low,
        ci_high=high,
        n=len(defined),
        n_undefined=len(values) - len(defined),
        n_failed=sum(map(bool, failed)),
    )


def summarize_shares(
    shares: Sequence[Share | None],
    values: Sequence[float | None],
    *,
    clusters: Sequence[Hashable],
    failed: Sequence[bool],
    seed: int,
    worst: float = 0.0,
) -> Summary:
    """A ratio of counts that are summed over the cases (micro average).

    Parameters
    ----------
    shares
        What each case adds to numerator and denominator; ``None`` where the case has no value.
        Of a failed case the denominator is its weight, and the numerator plays no part.
    values
        The ratio of each case by itself, for the spread.
    clusters, failed, seed, worst
        As for :func:`summarize`.

    Returns
    -------
    Summary
        ``mean`` is Σ numerators / Σ denominators, and ``worst`` if all denominators are 0;
        median, spread and range are those of the cases' own values. A failed case counts as
        if all of its weight (1 where it has none) were of the worst value.

    Raises
    ------
    ValueError
        If the sequences differ in length.

    Examples
    --------
    (1 + 1)/(1 + 3), where the mean of the cases would be (1/1 + 1/3)/2.

    >>> shares = [Share(1, 1), Share(1, 3)]
    >>> summarize_shares(shares, [1, 1/3], clusters="ab", failed=[False] * 2, seed=0).mean
    0.5
    """
    if len(shares) != len(values):
        raise ValueError(f"summarize_shares: {len(shares)} shares against {len(values)} values")
    spread = summarize(values, clusters=clusters, failed=failed, seed=seed, worst=worst)
    rows: list[Share] = []
    owners: list[Hashable] = []
    for share, cluster, broke in zip(shares, clusters, failed, strict=True):
        counted = _at_worst(share, worst) if broke else share
        if counted is not None:
            rows.append(counted)
            owners.append(cluster)
    if not rows:
        return replace(spread, mean=None, ci_low=None, ci_high=None)
    totals = by_cluster(rows, owners)
    low, high = None, None
    if len(totals) > 1:
        drawn = _ratios(resampled_sums(totals, seed=seed), worst)
        low, high = interval(drawn) or (None, None)
    mean = float(_ratios(totals.sum(axis=0), worst))
    return replace(spread, mean=mean, ci_low=low, ci_high=high)


def _ratios(sums: NDArray[np.float64], worst: float) -> NDArray[np.float64]:
    """Of sums (…, numerator, denominator); ``worst`` where there is nothing to divide by."""
    numerator, denominator = np.moveaxis(sums, -1, 0)
    empty = denominator == 0
    return np.asarray(np.where(empty, worst, numerator / np.where(empty, 1, denominator)))


def _at_worst(share: Share | None, worst: float) -> Share:
    weight = max(share.denominator, 1.0) if share else 1.0
    return Share(worst * weight, weight)


def by_cluster(
    rows: Sequence[Sequence[float]], clusters: Sequence[Hashable]
) -> NDArray[np.float64]:
    """Sum the rows of each cluster: shape (clusters, columns), in no particular order."""
    position = {cluster: index for index, cluster in enumerate(dict.fromkeys(clusters))}
    totals = np.zeros((len(position), len(rows[0])))
    np.add.at(totals, [position[cluster] for cluster in clusters], np.asarray(rows, dtype=float))
    return totals


def _std(values: Sequence[float]) -> float:
    return float(np.std(values, ddof=1)) if len(values) > 1 else 0.0


def _mean_interval(
    scored: Sequence[float | None], clusters: Sequence[Hashable], *, seed: int
) -> tuple[float, float] | tuple[None, None]:
    """Interval of the mean over cases, drawing whole clusters."""
    counted = [
        (value, cluster)
        for value, cluster in zip(scored, clusters, strict=True)
        if value is not None
    ]
    if len({cluster for _, cluster in counted}) < 2:
        return None, None
    rows = [(value, 1.0) for value, _ in counted]
    sums = resampled_sums(by_cluster(rows, [cluster for _, cluster in counted]), seed=seed)
    return interval(sums[:, 0] / sums[:, 1]) or (None, None)
