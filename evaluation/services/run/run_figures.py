"""The figure that decides about each of many runs, and all figures of some in a file."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, TypedDict

from django.db.models import QuerySet
from django.utils.formats import number_format
from django.utils.translation import gettext

from evaluation.layers import gold_layer
from evaluation.metrics.registry import METRICS, Metric
from evaluation.models import Aggregate, PrimaryMetric, Run
from evaluation.services import looks
from labeling.domain.csv_cells import csv_line
from labeling.translation import translated


class RunFigure(NamedTuple):
    title: str
    value: str
    """With its interval; a sentence where it may not be seen yet."""
    n: int | None = None


def of_runs(runs: Sequence[Run], reader: Any) -> list[RunFigure]:
    """Three queries, however many runs there are. Needs ``release``."""
    decides = _primaries({run.release.project_id for run in runs})
    sealed = looks.sealed_among(reader, runs)
    metrics = [_primary(run, decides) for run in runs]
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


def _primaries(projects: Collection[int]) -> dict[tuple[int, str], str]:
    """What each project declared last, by layer."""
    declared = PrimaryMetric.objects.filter(project__in=projects).order_by("pk")
    return {
        (project, layer): metric
        for project, layer, metric in declared.values_list("project", "layer", "metric")
    }


def _primary(run: Run, declared: Mapping[tuple[int, str], str]) -> Metric:
    layer = gold_layer(run.release.layer)
    name = declared.get((run.release.project_id, layer.name), "")
    return METRICS[name if name in layer.headline else layer.primary]


class FigureRow(TypedDict):
    """One metric of one run; a run without figures has one row without a metric."""

    run: int
    name: str
    pipeline: str
    pipeline_version: str
    gold: str
    layer: str
    split: str
    state: str
    launched: str
    cases: int
    failed: int
    metric: str
    metric_version: int | None
    value: float | None
    ci_low: float | None
    ci_high: float | None
    n: int | None
    n_undefined: int | None
    note: str


def rows(runs: QuerySet[Run], reader: Any) -> Iterator[FigureRow]:
    """Every figure in force. Needs ``with_progress()``."""
    chosen: list[Any] = list(runs.select_related("release").defer("spec", "release__header"))
    sealed = looks.sealed_among(reader, chosen)
    figures: dict[int, list[Aggregate]] = {}
    for row in Aggregate.objects.filter(run__in=[run.pk for run in chosen]).defer(
        "detail", "yardsticks"
    ):
        if row.metric in METRICS and METRICS[row.metric].version == row.metric_version:
            figures.setdefault(row.run_id, []).append(row)
    for run in chosen:
        if run.pk in sealed:
            yield _row(run, None, note="sealed: say on its page why you look")
        else:
            own = figures.get(run.pk, [])
            yield from (_row(run, row) for row in own)
            if not own:
                yield _row(run, None, note="no figures yet")


def _row(run: Any, row: Aggregate | None, *, note: str = "") -> FigureRow:
    return {
        "run": run.pk,
        "name": run.name,
        "pipeline": run.pipeline,
        "pipeline_version": run.pipeline_version,
        "gold": str(run.release),
        "layer": run.release.layer,
        "split": run.split or "all",
        "state": run.status,
        "launched": run.created_at.isoformat(),
        "cases": run.n_cases,
        "failed": run.n_failed,
        "metric": row.metric if row else "",
        "metric_version": row.metric_version if row else None,
        "value": row.mean if row else None,
        "ci_low": row.ci_low if row else None,
        "ci_high": row.ci_high if row else None,
        "n": row.n if row else None,
        "n_undefined": row.n_undefined if row else None,
        "note": note,
    }


COLUMNS = tuple(FigureRow.__annotations__)


def csv_text(rows: Iterator[FigureRow]) -> str:
    cells: Iterator[Mapping[str, object]] = iter(rows)
    lines = (csv_line(row[name] for name in COLUMNS) for row in cells)
    return "".join([csv_line(COLUMNS), *lines])


def json_text(rows: Iterator[FigureRow]) -> str:
    return json.dumps(list(rows), indent=2, ensure_ascii=False, allow_nan=False) + "\n"
