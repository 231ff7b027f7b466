"""The primary metric of one gold over time: a line for each pipeline, and the same as a table."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from itertools import groupby
from typing import Any, NamedTuple

from django.db.models import Prefetch
from django.utils.formats import date_format
from django.utils.timezone import localtime

from evaluation.metrics.registry import METRICS, Metric
from evaluation.models import Aggregate, Run
from evaluation.models.runs import RunQuerySet, number_of_cases
from evaluation.services import looks
from evaluation.services.run import lists
from evaluation.services.run.lists import PrimaryOf
from evaluation.views import present
from labeling.models import GoldRelease

MOST_RUNS = 60
COLORS = 7
"""Lines that can be told apart; the pipelines with most runs get them, the others have dots."""
WIDTH, HEIGHT = 720, 250
LEFT, RIGHT, TOP, BOTTOM = 40, 710, 12, 215


class Dot(NamedTuple):
    x: float
    y: float
    low: float | None
    high: float | None
    title: str
    url: str


@dataclass(frozen=True, slots=True)
class Line:
    """Runs of one pipeline. A path joins those that were measured on the same cases."""

    pipeline: str
    color: int
    dots: list[Dot]
    paths: list[str]


class Row(NamedTuple):
    run: Run
    figure: str
    interval: str


class Tick(NamedTuple):
    at: float
    text: str


@dataclass(frozen=True, slots=True)
class Timeline:
    metric: Metric
    lines: list[Line]
    rows: list[Row]
    x_ticks: list[Tick]
    y_ticks: list[Tick]
    width: int = WIDTH
    height: int = HEIGHT
    left: int = LEFT
    right: int = RIGHT
    top: int = TOP
    bottom: int = BOTTOM


class _Measured(NamedTuple):
    run: Run
    row: Aggregate
    mean: float


def timeline(runs: RunQuerySet, reader: Any) -> Timeline | None:
    """Of the newest finished runs whose figures the reader may see; None with fewer than two."""
    documents = [f"release__{name}" for name in GoldRelease.DOCUMENTS]
    light = Aggregate.objects.defer("detail", "yardsticks")
    newest = runs.select_related("release").defer("spec", "config", *documents).order_by("-pk")
    newest = newest.annotate(n_first=number_of_cases("pk"))
    loaded = list(newest.prefetch_related(Prefetch("aggregates", light))[:MOST_RUNS])
    if not loaded:
        return None
    sealed, primaries = looks.sealed_among(reader, loaded), lists.primaries(reader)
    metric = primaries[PrimaryOf(loaded[0].release.project_id, loaded[0].release.layer)]
    measured = [
        _Measured(run, row, row.mean)
        for run in reversed(loaded)
        if run.pk not in sealed
        for row in run.aggregates.all()
        if (row.metric, row.metric_version) == (metric.id, METRICS[metric.id].version)
        if row.mean is not None
    ]
    return _drawn(measured, metric) if len(measured) > 1 else None


def _drawn(measured: list[_Measured], metric: Metric) -> Timeline:
    first, last = measured[0].run.created_at, measured[-1].run.created_at
    seconds = (last - first).total_seconds() or 1.0
    span = metric.upper - metric.lower

    def x(at: datetime) -> float:
        return round(LEFT + (RIGHT - LEFT) * (at - first).total_seconds() / seconds, 1)

    def y(value: float | None) -> float | None:
        return None if value is None else _height((value - metric.lower) / span)

    def dot(case: _Measured) -> Dot:
        figure = present.with_interval(metric, case.row)
        return Dot(
            x(case.run.created_at),
            _height((case.mean - metric.lower) / span),
            y(case.row.ci_low),
            y(case.row.ci_high),
            f"{case.run.pk} {case.run.pipeline} {case.run.name} {case.run.release}: {figure}",
            case.run.get_absolute_url(),
        )

    by_pipeline: dict[str, list[_Measured]] = {}
    for case in measured:
        by_pipeline.setdefault(case.run.pipeline, []).append(case)
    ranked = sorted(by_pipeline.items(), key=lambda pair: -len(pair[1]))
    lines = [
        Line(
            pipeline,
            number if number <= COLORS else 0,
            [dot(case) for case in cases],
            _paths([(case, dot(case)) for case in cases]),
        )
        for number, (pipeline, cases) in enumerate(ranked, start=1)
    ]
    ends = (first,) if first == last else (first, last)
    on_one_day = localtime(first).date() == localtime(last).date()
    form = "j M Y H:i" if on_one_day else "j M Y"
    return Timeline(
        metric=metric,
        lines=lines,
        rows=[
            Row(
                case.run,
                present.of_scale(metric, case.mean),
                present.interval(case.row) if case.row.ci_low is not None else "",
            )
            for case in reversed(measured)
        ],
        x_ticks=[Tick(x(at), date_format(localtime(at), form)) for at in ends],
        y_ticks=[
            Tick(_height(share), present.figure(metric.lower + share * span, 2))
            for share in (0, 0.25, 0.5, 0.75, 1)
        ],
    )


def _paths(placed: list[tuple[_Measured, Dot]]) -> list[str]:
    """On other gold, or other cases of it, a figure does not continue the line."""

    def cases_of(pair: tuple[_Measured, Dot]) -> tuple[int, str, int]:
        run: Any = pair[0].run
        return run.release_id, run.split, run.n_first

    groups = [list(group) for _cases, group in groupby(sorted(placed, key=cases_of), key=cases_of)]
    return [
        " ".join(f"{dot.x},{dot.y}" for _case, dot in group) for group in groups if len(group) > 1
    ]


def _height(share: float) -> float:
    return round(BOTTOM - (BOTTOM - TOP) * min(1.0, max(0.0, share)), 1)
