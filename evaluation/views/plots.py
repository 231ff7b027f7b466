"""Every plot of runs, as places in the coordinates of its drawing."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby
from typing import Any, NamedTuple

from django.db.models import Prefetch
from django.utils.formats import date_format
from django.utils.timezone import localtime

from evaluation.metrics.registry import METRICS, Metric
from evaluation.metrics.yardsticks import Yardsticks
from evaluation.models import Aggregate, Run
from evaluation.models.runs import RunQuerySet
from evaluation.services import looks
from evaluation.services.run import lists
from evaluation.services.run.comparisons import Compared, MetricComparison
from evaluation.services.run.lists import PrimaryOf
from evaluation.templatetags.present import exact, figure
from labeling.models import GoldRelease
from labeling.translation import lazy as _


class Frame(NamedTuple):
    """The size of a drawing, and the part of it in which shares of a scale become places."""

    width: int
    height: int
    left: int
    right: int
    top: int
    bottom: int

    def x(self, share: float) -> float:
        return round(self.left + (self.right - self.left) * share, 1)

    def y(self, share: float) -> float:
        return round(self.bottom - (self.bottom - self.top) * share, 1)

    def points(self, pairs: Iterable[tuple[float, float]]) -> str:
        return " ".join(f"{self.x(x)},{self.y(y)}" for x, y in pairs)


class Tick(NamedTuple):
    at: float
    text: str
    edge: str = ""
    """Of the region of no interest, or of the scale."""


SQUARE = Frame(312, 312, 36, 276, 36, 276)
QUARTERS = (0, 0.25, 0.5, 0.75, 1)


def _share(value: float, metric: Metric) -> float:
    """Where on the scale of the metric a value is."""
    return (value - metric.lower) / (metric.upper - metric.lower)


def _ticks(shares: Sequence[float], place: Callable[[float], float]) -> list[Tick]:
    return [Tick(place(at), exact(at)) for at in shares]


# --- the primary figure on a line -----------------------------------------------------------------


class End(NamedTuple):
    """What one end of the picture of a figure stands for; ``name`` is that of a pipeline."""

    title: str
    name: str
    text: str


class Picture(NamedTuple):
    """The primary figure on one line: from the floor to people where both are known, else over
    the scale of the metric. An interval that goes far beyond is cut; its figures are not. Of an
    unknown place there is no mark."""

    start: float
    stop: float
    at: float
    low: float | None
    high: float | None
    floors: list[float]
    left: End
    right: End


def picture_of(row: Aggregate) -> Picture | None:
    """The skill as METRICS.md defines it: every mark is measured on the same cases."""
    stored: Yardsticks = row.yardsticks
    if reached := stored.get("skill"):
        low, at, high = (
            min(1.25, max(-0.25, end))  # at most a quarter of the way beyond floor and people
            for end in (reached["ci_low"], reached["mean"], reached["ci_high"])
        )
        place = _placed(min(0.0, low, at), max(1.0, at, high))
        return Picture(
            start=place(0.0),
            stop=place(1.0),
            at=place(at),
            low=place(low),
            high=place(high),
            floors=[],
            left=End(_("Floor"), reached["floor"], figure(reached["at_floor"])),
            right=End(_("People"), "", figure(reached["at_ceiling"])),
        )
    metric = METRICS[row.metric]
    if row.mean is None or not math.isfinite(metric.upper - metric.lower):
        return None
    place = _placed(metric.lower, metric.upper)
    floors = [floor["mean"] for floor in stored.get("floors", {}).values()]
    return Picture(
        start=0.0,
        stop=100.0,
        at=place(row.mean),
        low=None if row.ci_low is None else place(row.ci_low),
        high=None if row.ci_high is None else place(row.ci_high),
        floors=[place(floor) for floor in floors if floor is not None],
        left=End("", "", exact(metric.lower)),
        right=End("", "", exact(metric.upper)),
    )


def _placed(low: float, high: float) -> Callable[[float], float]:
    return lambda value: round(100 * (value - low) / (high - low), 2)


# --- stated confidence ----------------------------------------------------------------------------


def reliability_plot(aggregates: Mapping[str, Aggregate]) -> dict[str, Any] | None:
    """Share correct against stated confidence; a dot's area grows with its predictions."""
    detail = aggregates["ece"].detail if "ece" in aggregates else {}
    bins = [row for row in detail.get("bins", []) if row["count"]]
    if not bins:
        return None
    most = max(row["count"] for row in bins)
    title = _("Confidence {value}, correct {value2}, {count} predictions")
    return {
        "dots": [
            {
                "x": SQUARE.x(row["confidence"]),
                "y": SQUARE.y(row["accuracy"]),
                "diagonal": SQUARE.y(row["confidence"]),
                "radius": round(3 + 9 * (row["count"] / most) ** 0.5, 1),
                "title": title.format(
                    value=figure(row["confidence"], 2),
                    value2=figure(row["accuracy"], 2),
                    count=row["count"],
                ),
            }
            for row in bins
        ],
        "path": SQUARE.points((row["confidence"], row["accuracy"]) for row in bins),
        "bins": bins,
        "frame": SQUARE,
        "x_ticks": _ticks(QUARTERS, SQUARE.x),
        "y_ticks": _ticks(QUARTERS, SQUARE.y),
    }


# --- differences: one line a run and metric, on one scale, better to the right --------------------

STEPS = (0.05, 0.1, 0.2, 0.5, 1.0)
"""Ends of the scale, as shares of a metric's range."""


class Mark(NamedTuple):
    """One difference with its interval; places are percent of the width."""

    row: MetricComparison
    run: int
    place: float
    low: float | None
    high: float | None


class Forest(NamedTuple):
    """``margin_low`` and ``margin_width`` bound the differences too small to be of interest."""

    lines: list[tuple[Metric, list[Mark]]]
    ticks: list[Tick]
    margin_low: float
    margin_width: float


def forest(pairs: Sequence[tuple[MetricComparison, Compared]]) -> Forest | None:
    """Of what has a difference and a range; a gain is on the right also where lower is better."""
    shown = [
        (row, each)
        for row, each in pairs
        if row.comparison.difference is not None
        and math.isfinite(row.metric.upper - row.metric.lower)
    ]
    if not shown:
        return None
    margin = max(row.margin for row, _ in shown)
    most = max(1.5 * margin, *(abs(share) for row, _ in shown for share in _shares(row)))
    # the next of the steps, so that nothing is cut off
    reach = next((step for step in STEPS if step >= most), math.ceil(10 * most) / 10)

    def place(share: float) -> float:
        return round(50 + 48 * share / reach, 2)

    def mark(row: MetricComparison, run: int) -> Mark:
        at, *ends = (place(share) for share in _shares(row))
        return Mark(row, run, at, min(ends, default=None), max(ends, default=None))

    edges = ((-reach, "start"), (-margin, "margin-low"), (margin, "margin-high"), (reach, "end"))
    return Forest(
        [
            (metric, [mark(row, each.after.pk) for row, each in rows])
            for metric, rows in groupby(shown, key=lambda pair: pair[0].metric)
        ],
        [Tick(place(at), f"{'−' if at < 0 else '+'}{exact(abs(at))}", edge) for at, edge in edges],
        place(-margin),
        round(place(margin) - place(-margin), 2),
    )


def _shares(row: MetricComparison) -> list[float]:
    """Difference and interval as shares of the range, turned so that right is better."""
    result, metric = row.comparison, row.metric
    sign = 1 if metric.direction == "higher" else -1
    values = (result.difference, result.ci_low, result.ci_high)
    return [sign * value / (metric.upper - metric.lower) for value in values if value is not None]


# --- the primary metric of one gold over time: a color for each pipeline --------------------------

MOST_RUNS = 60
COLORS = 7
"""Lines that can be told apart; the pipelines with most runs get them, the others have dots."""
WIDE = Frame(720, 250, 40, 710, 12, 215)


class Measured(NamedTuple):
    """A run with its primary figure, and where it is drawn."""

    run: Run
    row: Aggregate
    x: float
    y: float
    low: float | None
    high: float | None


class Line(NamedTuple):
    """Runs of one pipeline."""

    pipeline: str
    color: int
    dots: list[Measured]


@dataclass(frozen=True, slots=True)
class Timeline:
    metric: Metric
    lines: list[Line]
    x_ticks: list[Tick]
    y_ticks: list[Tick]
    frame: Frame = WIDE


def timeline(runs: RunQuerySet, reader: Any) -> Timeline | None:
    """Of the newest finished runs whose figures the reader may see; None with fewer than two."""
    documents = [f"release__{name}" for name in GoldRelease.DOCUMENTS]
    light = Aggregate.objects.defer("detail", "yardsticks")
    newest = runs.select_related("release").defer("spec", "config", *documents).order_by("-pk")
    loaded = list(newest.prefetch_related(Prefetch("aggregates", light))[:MOST_RUNS])
    if not loaded:
        return None
    sealed, primaries = looks.sealed_among(reader, loaded), lists.primaries(reader)
    metric = primaries[PrimaryOf(loaded[0].release.project_id, loaded[0].release.layer)]
    found = [
        (run, row)
        for run in reversed(loaded)
        if run.pk not in sealed
        for row in run.aggregates.all()
        if (row.metric, row.metric_version) == (metric.id, METRICS[metric.id].version)
        if row.mean is not None
    ]
    return _drawn(found, metric) if len(found) > 1 else None


def _drawn(found: Sequence[tuple[Run, Aggregate]], metric: Metric) -> Timeline:
    first, last = found[0][0].created_at, found[-1][0].created_at
    seconds = (last - first).total_seconds() or 1.0

    def x(at: datetime) -> float:
        return WIDE.x((at - first).total_seconds() / seconds)

    def y(value: float | None) -> float | None:
        return None if value is None else WIDE.y(min(1.0, max(0.0, _share(value, metric))))

    rows = [
        Measured(run, row, x(run.created_at), y(row.mean) or 0.0, y(row.ci_low), y(row.ci_high))
        for run, row in found
    ]
    by_pipeline: dict[str, list[Measured]] = {}
    for row in rows:
        by_pipeline.setdefault(row.run.pipeline, []).append(row)
    ranked = sorted(by_pipeline.items(), key=lambda pair: -len(pair[1]))
    on_one_day = localtime(first).date() == localtime(last).date()
    form = "j M Y H:i" if on_one_day else "j M Y"
    return Timeline(
        metric=metric,
        lines=[
            Line(pipeline, number if number <= COLORS else 0, dots)
            for number, (pipeline, dots) in enumerate(ranked, start=1)
        ],
        x_ticks=[Tick(x(at), date_format(localtime(at), form)) for at in sorted({first, last})],
        y_ticks=[
            Tick(WIDE.y(at), figure(metric.lower + at * (metric.upper - metric.lower), 2))
            for at in QUARTERS
        ],
    )
