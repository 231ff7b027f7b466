"""The log of experiments: one row for each finished run, with what was changed and what it gave.

A run fills only the columns of its split; the others stay empty, because they were not run.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence
from typing import Any

from django.db.models import Prefetch

from evaluation.layers import GOLD_LAYERS
from evaluation.metrics.registry import METRICS
from evaluation.models import Aggregate, Run
from evaluation.models.runs import RunQuerySet
from evaluation.services.run.comparisons import changed
from labeling.domain.csv_cells import safe_row

SPLITS = ("train", "test")
COLUMNS = (
    "experiment_id",
    "date",
    "name",
    "gold",
    "layer",
    "pipeline",
    "pipeline_version",
    *(f"{split}_{figure}" for split in SPLITS for figure in ("exact_recall", "precision")),
    "dev_exact_recall",
    "dev_precision",
    "all_exact_recall",
    "all_precision",
    "cases",
    "config_summary",
    "config_changes",
    "config_sha256",
    "commit",
    "synthetic",
)


def rows(runs: RunQuerySet) -> list[dict[str, Any]]:
    """Oldest first; what changed is listed against the run before on gold of the same name."""
    shown = [metric for layer in GOLD_LAYERS.values() for metric in layer.log or ()]
    figures = Prefetch("aggregates", Aggregate.objects.filter(metric__in=shown).defer("detail"))
    finished = runs.filter(scored_at__isnull=False).order_by("pk").select_related("release")
    light = finished.defer("release__header", "release__agreement", "release__left_out")
    before: dict[str, Run] = {}
    described = []
    for run in light.with_synthetic().prefetch_related(figures):
        described.append(_row(run, before.get(run.release.name)))
        before[run.release.name] = run
    return described


def csv_lines(experiments: Sequence[dict[str, Any]]) -> Iterator[str]:
    yield _line(COLUMNS)
    for row in experiments:
        yield _line([_cell(row[column]) for column in COLUMNS])


def _row(run: Run, before: Run | None) -> dict[str, Any]:
    recall, precision = GOLD_LAYERS[run.release.layer].log or ("", "")
    means = {
        row.metric: row
        for row in run.aggregates.all()
        if METRICS[row.metric].version == row.metric_version
    }
    split = run.split or "all"
    marked: Any = run  # by with_synthetic()
    return {
        **dict.fromkeys(COLUMNS),
        "experiment_id": run.pk,
        "date": run.created_at.isoformat(),
        "name": run.name,
        "gold": str(run.release),
        "layer": run.release.layer,
        "pipeline": run.pipeline,
        "pipeline_version": run.pipeline_version,
        f"{split}_exact_recall": means[recall].mean if recall in means else None,
        f"{split}_precision": means[precision].mean if precision in means else None,
        "cases": means[recall].n if recall in means else None,
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
    return "; ".join(f"{name}: {_said(old)} → {_said(new)}" for name, (old, new) in changes.items())


def _said(value: Any) -> str:
    return "–" if value is None else str(value)


def _summary(config: dict[str, Any]) -> str:
    return ", ".join(f"{name}={value}" for name, value in config.items())


def _cell(value: Any) -> Any:
    return f"{value:.4f}" if isinstance(value, float) else value


def _line(cells: Sequence[Any]) -> str:
    buffer = io.StringIO()
    csv.writer(buffer, lineterminator="\n").writerow(safe_row(list(cells)))
    return buffer.getvalue()
