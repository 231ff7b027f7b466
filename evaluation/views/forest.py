"""The plot of differences: one line a run and metric, on one scale, better to the right."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import groupby
from typing import NamedTuple

from evaluation.metrics.metric import Metric
from evaluation.services.run.comparisons import Compared, MetricComparison
from evaluation.views import present
from labeling.templatetags.figures import exact

STEPS = (0.05, 0.1, 0.2, 0.5, 1.0)
"""Ends of the scale, as shares of a metric's range."""


class Mark(NamedTuple):
    """One difference with its interval; places are percent of the width."""

    run: int
    place: float | None
    low: float | None
    high: float | None
    verdict: str
    text: str


class Line(NamedTuple):
    metric: Metric
    marks: list[Mark]


class Tick(NamedTuple):
    place: float
    text: str
    edge: str
    """Of the region of no interest, or of the scale."""


class Forest(NamedTuple):
    """``margin_low`` and ``margin_high`` bound the differences too small to be of interest."""

    lines: list[Line]
    ticks: list[Tick]
    margin_low: float
    margin_width: float


def forest(pairs: Sequence[tuple[MetricComparison, Compared]]) -> Forest | None:
    """Of what has a difference and a range; a gain is on the right also where lower is better."""
    shown = [
        (row, each)
        for row, each in pairs
        if row.comparison.difference is not None and math.isfinite(_span(row.metric))
    ]
    if not shown:
        return None
    margin = max(row.margin for row, _ in shown)
    reach = _reach([max(map(abs, _shares(row))) for row, _ in shown], margin)
    lines = [
        Line(metric, [_mark(row, each, reach) for row, each in rows])
        for metric, rows in groupby(shown, key=lambda pair: pair[0].metric)
    ]
    ticks = [
        Tick(_place(at, reach), f"{sign}{exact(abs(at))}", edge)
        for at, sign, edge in (
            (-reach, "−", "start"),
            (-margin, "−", "margin-low"),
            (margin, "+", "margin-high"),
            (reach, "+", "end"),
        )
    ]
    low = _place(-margin, reach)
    return Forest(lines, ticks, low, round(_place(margin, reach) - low, 2))


def _mark(row: MetricComparison, compared: Compared, reach: float) -> Mark:
    result = row.comparison
    shares = [_place(share, reach) for share in _shares(row)]
    text = present.signed(result.difference)
    if result.ci_low is not None:
        text += f" [{present.signed_interval(result.ci_low, result.ci_high)}]"
    low, high = (min(shares), max(shares)) if len(shares) > 1 else (None, None)
    return Mark(compared.after.pk, shares[0], low, high, row.verdict, text)


def _shares(row: MetricComparison) -> list[float]:
    """Difference and interval as shares of the range, turned so that right is better."""
    result = row.comparison
    sign = 1 if row.metric.direction == "higher" else -1
    values = (result.difference, result.ci_low, result.ci_high)
    return [sign * value / _span(row.metric) for value in values if value is not None]


def _span(metric: Metric) -> float:
    return metric.upper - metric.lower


def _reach(shares: Sequence[float], margin: float) -> float:
    """The end of the scale: the next of the steps, so that nothing is cut off."""
    most = max(*shares, 1.5 * margin)
    return next((step for step in STEPS if step >= most), math.ceil(10 * most) / 10)


def _place(share: float, reach: float) -> float:
    return round(50 + 48 * share / reach, 2)
