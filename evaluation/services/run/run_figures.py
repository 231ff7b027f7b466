"""The figure that decides about each of many runs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from django.utils.formats import number_format
from django.utils.translation import gettext

from evaluation.metrics.registry import Metric
from evaluation.models import Aggregate, Run
from evaluation.services import looks
from evaluation.services.run import lists
from evaluation.services.run.lists import PrimaryOf
from labeling.translation import translated


class RunFigure(NamedTuple):
    title: str
    value: str
    """With its interval; a sentence where it may not be seen yet."""
    n: int | None = None


def of_runs(runs: Sequence[Run], reader: Any) -> list[RunFigure]:
    """Three queries, however many runs there are. Needs ``release``."""
    primary = lists.primaries(reader)
    sealed = looks.sealed_among(reader, runs)
    metrics = [primary[PrimaryOf(run.release.project_id, run.release.layer)] for run in runs]
    aggregates = Aggregate.objects.filter(
        run__in=[run.pk for run in runs], metric__in={metric.id for metric in metrics}
    )
    rows = {
        (row.run_id, row.metric, row.metric_version): row
        for row in aggregates.defer("detail", "yardsticks")
    }
    return [
        RunFigure(translated(metric.title), gettext("sealed: say why on its page"))
        if run.pk in sealed
        else _figure(metric, rows.get((run.pk, metric.id, metric.version)))
        for run, metric in zip(runs, metrics, strict=True)
    ]


def _figure(metric: Metric, row: Aggregate | None) -> RunFigure:
    if row is None or row.mean is None:
        return RunFigure(translated(metric.title), "–", row.n if row else None)
    shown = _digits(row.mean)
    if row.ci_low is not None and row.ci_high is not None:
        shown += f" [{_digits(row.ci_low)} – {_digits(row.ci_high)}]"
    return RunFigure(translated(metric.title), shown, row.n)


def _digits(value: float) -> str:
    return number_format(f"{value:z.3f}", 3)
