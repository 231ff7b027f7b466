"""The log of experiments: one row for each finished run, with what was changed and what it gave.

A run fills only the columns of its split; the others stay empty, because they were not run.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypedDict

from django.db.models import Prefetch

from evaluation.layers import GOLD_LAYERS
from evaluation.metrics.registry import METRICS
from evaluation.models import Aggregate, Run
from evaluation.models.runs import RunQuerySet
from evaluation.services.run.comparisons import changed
from labeling.domain.csv_cells import safe_row
from pipelines.types import Config


class ExperimentColumns(TypedDict):
    """The columns of the log, in order; the figures are those of the run's split."""

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


class ExperimentRow(ExperimentColumns):
    """A row as the API returns it."""

    config: Config
    baseline: bool


COLUMNS = tuple(ExperimentColumns.__annotations__)


def rows(runs: RunQuerySet) -> list[ExperimentRow]:
    """Oldest first; what changed is listed against the run before on gold of the same name."""
    shown = [metric for layer in GOLD_LAYERS.values() for metric in layer.log or ()]
    light = Aggregate.objects.filter(metric__in=shown).defer("detail", "yardsticks")
    figures = Prefetch("aggregates", light)
    finished = runs.filter(scored_at__isnull=False).order_by("pk").select_related("release")
    runs_shown = finished.defer("release__header", "release__agreement", "release__left_out")
    before: dict[str, Run] = {}
    described = []
    for run in runs_shown.with_synthetic().prefetch_related(figures):
        described.append(_row(run, before.get(run.release.name)))
        before[run.release.name] = run
    return described


def csv_lines(experiments: Sequence[ExperimentRow]) -> Iterator[str]:
    yield _line(COLUMNS)
    for row in experiments:
        cells: Mapping[str, object] = row
        yield _line([_cell(cells[column]) for column in COLUMNS])


def _row(run: Run, before: Run | None) -> ExperimentRow:
    recall, precision = GOLD_LAYERS[run.release.layer].log or ("", "")
    means = {
        row.metric: row
        for row in run.aggregates.all()
        if METRICS[row.metric].version == row.metric_version
    }
    exact = means[recall].mean if recall in means else None
    precise = means[precision].mean if precision in means else None
    split = run.split or "all"
    marked: Any = run  # by with_synthetic()
    return {
        "experiment_id": run.pk,
        "date": run.created_at.isoformat(),
        "name": run.name,
        "gold": str(run.release),
        "layer": run.release.layer,
        "pipeline": run.pipeline,
        "pipeline_version": run.pipeline_version,
        "train_exact_recall": exact if split == "train" else None,
        "train_precision": precise if split == "train" else None,
        "test_exact_recall": exact if split == "test" else None,
        "test_precision": precise if split == "test" else None,
        "dev_exact_recall": exact if split == "dev" else None,
        "dev_precision": precise if split == "dev" else None,
        "all_exact_recall": exact if split == "all" else None,
        "all_precision": precise if split == "all" else None,
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
        "config": run.config,
        "baseline": before is None,
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


def _line(cells: Sequence[Any]) -> str:
    buffer = io.StringIO()
    csv.writer(buffer, lineterminator="\n").writerow(safe_row(list(cells)))
    return buffer.getvalue()
