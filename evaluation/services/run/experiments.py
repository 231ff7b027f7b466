"""The log of experiments: one row for each finished run, with what was changed and what it gave.

A run fills the columns of its split, and one on several splits those of each of its parts; the
others stay empty, because they were not run. Test figures of a run that is sealed stay empty, too.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, TypedDict

from django.db.models import Prefetch, Sum

from evaluation.layers import GOLD_LAYERS
from evaluation.metrics.registry import METRICS
from evaluation.models import OPEN, Aggregate, Run, Score
from evaluation.models.runs import RunQuerySet
from evaluation.services.run import exposures, lists
from evaluation.services.run.comparisons import changed
from evaluation.services.run.exposures import Exposures
from labeling.domain.csv_cells import csv_line
from pipelines.types import Config


class ExperimentColumns(TypedDict):
    """The columns of the log, in order; the intervals are those of the whole run."""

    experiment_id: int
    date: str
    name: str
    gold: str
    layer: str
    pipeline: str
    pipeline_version: str
    train_exact_recall: float | None
    train_precision: float | None
    test_exact_recall: float | None
    test_precision: float | None
    dev_exact_recall: float | None
    dev_precision: float | None
    open_exact_recall: float | None
    open_precision: float | None
    all_exact_recall: float | None
    all_precision: float | None
    cases: int | None
    recall_ci_low: float | None
    recall_ci_high: float | None
    precision_ci_low: float | None
    precision_ci_high: float | None
    config_summary: str
    config_changes: str
    config_sha256: str
    commit: str | None
    synthetic: bool
    seen: int
    left_out: int
    unseen: int
    sealed: bool


class ExperimentRow(ExperimentColumns):
    """A row as the API returns it."""

    config: Config
    baseline: bool
    split: str
    """The run's own: train, dev, test, open (all but test) or all."""


COLUMNS = tuple(ExperimentColumns.__annotations__)


Part = tuple[int, str, str]
"""A run, a split and a metric."""


def _none_of(runs: Iterable[Run]) -> Collection[int]:
    return ()


def rows(
    runs: RunQuerySet, *, sealed: Callable[[Iterable[Run]], Collection[int]] = _none_of
) -> list[ExperimentRow]:
    """Oldest first; what changed is listed against the run before on gold of the same name.

    ``sealed`` tells which runs keep their test figures to themselves.
    """
    shown = [metric for layer in GOLD_LAYERS.values() for metric in layer.log or ()]
    light = Aggregate.objects.filter(metric__in=shown).defer("detail", "yardsticks")
    figures = Prefetch("aggregates", light)
    finished = runs.filter(scored_at__isnull=False).order_by("pk").select_related("release")
    runs_shown = finished.defer("release__header", "release__agreement", "release__left_out")
    loaded = list(runs_shown.with_synthetic().prefetch_related(figures))
    parts, kept = _parts(loaded, shown), sealed(loaded)
    counts = exposures.of_runs(run.pk for run in loaded)
    before = lists.predecessors(loaded)
    described = [_row(run, before.get(run.pk), parts, counts[run.pk]) for run in loaded]
    return [_without_test(row) if row["experiment_id"] in kept else row for row in described]


def _parts(runs: Sequence[Run], metrics: Sequence[str]) -> dict[Part, float]:
    """The figures of runs on several splits, split by split: what their cases add up to."""
    several = [run.pk for run in runs if run.split in ("", OPEN)]
    scores = Score.objects.filter(case__run__in=several, metric__in=metrics, weight__gt=0)
    sums = scores.order_by().values_list(
        "case__run", "case__item__split", "metric", "metric_version"
    )
    return {
        (run, split, metric): top / bottom
        for run, split, metric, version, top, bottom in sums.annotate(
            Sum("numerator"), Sum("weight")
        )
        if _in_force(metric, version)
    }


def _in_force(metric: str, version: int) -> bool:
    """A metric of a package that is not installed any more is not."""
    return metric in METRICS and METRICS[metric].version == version


def _without_test(row: ExperimentRow) -> ExperimentRow:
    """Parts of other splits stay: they say nothing about test items."""
    open_row = row.copy()
    open_row["sealed"] = True
    open_row["test_exact_recall"] = open_row["test_precision"] = None
    open_row["all_exact_recall"] = open_row["all_precision"] = None
    open_row["recall_ci_low"] = open_row["recall_ci_high"] = None
    open_row["precision_ci_low"] = open_row["precision_ci_high"] = None
    return open_row


def csv_lines(experiments: Sequence[ExperimentRow]) -> Iterator[str]:
    yield csv_line(COLUMNS)
    for row in experiments:
        cells: Mapping[str, object] = row
        yield csv_line([_cell(cells[column]) for column in COLUMNS])


def _row(
    run: Run, before: Run | None, parts: Mapping[Part, float], counts: Exposures
) -> ExperimentRow:
    recall, precision = GOLD_LAYERS[run.release.layer].log or ("", "")
    means = {
        row.metric: row for row in run.aggregates.all() if _in_force(row.metric, row.metric_version)
    }
    exact = means[recall].mean if recall in means else None
    precise = means[precision].mean if precision in means else None
    whole = {run.split or "all": (exact, precise)}

    def of(split: str) -> tuple[float | None, float | None]:
        part = parts.get((run.pk, split, recall)), parts.get((run.pk, split, precision))
        return whole.get(split, part)

    marked: Any = run  # by with_synthetic()
    return {
        "experiment_id": run.pk,
        "date": run.created_at.isoformat(),
        "name": run.name,
        "gold": str(run.release),
        "layer": run.release.layer,
        "pipeline": run.pipeline,
        "pipeline_version": run.pipeline_version,
        "train_exact_recall": of("train")[0],
        "train_precision": of("train")[1],
        "test_exact_recall": of("test")[0],
        "test_precision": of("test")[1],
        "dev_exact_recall": of("dev")[0],
        "dev_precision": of("dev")[1],
        "open_exact_recall": of("open")[0],
        "open_precision": of("open")[1],
        "all_exact_recall": of("all")[0],
        "all_precision": of("all")[1],
        "cases": means[recall].n if recall in means else None,
        "recall_ci_low": means[recall].ci_low if recall in means else None,
        "recall_ci_high": means[recall].ci_high if recall in means else None,
        "precision_ci_low": means[precision].ci_low if precision in means else None,
        "precision_ci_high": means[precision].ci_high if precision in means else None,
        "config_summary": _summary(run.config),
        "config_changes": _changes(before, run),
        "config_sha256": run.config_sha256,
        "commit": run.spec.git.commit if run.spec.git else None,
        "synthetic": marked.holds_synthetic,
        "seen": counts["seen"],
        "left_out": counts["left_out"],
        "unseen": counts["unseen"],
        "sealed": False,
        "config": run.config,
        "baseline": before is None,
        "split": run.split or "all",
    }


def _changes(before: Run | None, run: Run) -> str:
    """Empty for the first run, the baseline."""
    changes = changed(before, run) if before else {}
    return "; ".join(f"{name}: {_text(old)} → {_text(new)}" for name, (old, new) in changes.items())


def _text(value: Any) -> str:
    return "–" if value is None else str(value)


def _summary(config: Config) -> str:
    return ", ".join(f"{name}={value}" for name, value in config.items())


def _cell(value: Any) -> Any:
    return f"{value:.4f}" if isinstance(value, float) else value
