"""The log of experiments: one row for each finished run, with what was changed and what it gave.

A run fills the columns of its split, and one on several splits those of each of its parts; the
others stay empty, because they were not run. Test figures of a run that is sealed stay empty, too.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

from django.db.models import Prefetch, Sum

from evaluation.layers import GOLD_LAYERS
from evaluation.metrics.registry import METRICS
from evaluation.models import OPEN, Aggregate, Run, Score
from evaluation.models.runs import RunQuerySet
from evaluation.services.run import exposures, lists
from evaluation.services.run.changes import changed
from evaluation.services.run.exposures import Exposures
from labeling.domain.csv_cells import csv_line
from pipelines.types import Config

SPLITS = ("train", "test", "dev", "open", "all")
COLUMNS = (
    *("experiment_id", "date", "name", "gold", "layer", "pipeline", "pipeline_version"),
    *(f"{split}_{name}" for split in SPLITS for name in ("exact_recall", "precision")),
    *("cases", "recall_ci_low", "recall_ci_high", "precision_ci_low", "precision_ci_high"),
    *("config_summary", "config_changes", "config_sha256", "commit", "synthetic"),
    *("seen", "left_out", "unseen", "sealed"),
)
"""In order; the intervals are those of the whole run."""

ExperimentRow = dict[str, Any]
"""These, and ``config``, ``baseline`` and the run's ``split``."""


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
    closed = [name for name in COLUMNS if name.startswith(("test_", "all_")) or "_ci_" in name]
    return {**row, "sealed": True, **dict.fromkeys(closed)}


def csv_lines(experiments: Sequence[ExperimentRow]) -> Iterator[str]:
    yield csv_line(COLUMNS)
    for row in experiments:
        yield csv_line([_cell(row[column]) for column in COLUMNS])


def _row(
    run: Run, before: Run | None, parts: Mapping[Part, float], counts: Exposures
) -> ExperimentRow:
    recall, precision = GOLD_LAYERS[run.release.layer].log or ("", "")
    means = {
        row.metric: row for row in run.aggregates.all() if _in_force(row.metric, row.metric_version)
    }
    whole = {
        run.split or "all": tuple(_of(means.get(name), "mean") for name in (recall, precision))
    }
    by_split: dict[str, float | None] = {}
    for split in SPLITS:
        parts_of = tuple(parts.get((run.pk, split, name)) for name in (recall, precision))
        exact, precise = whole.get(split, parts_of)
        by_split |= {f"{split}_exact_recall": exact, f"{split}_precision": precise}
    marked: Any = run  # by with_synthetic()
    return {
        "experiment_id": run.pk,
        "date": run.created_at.isoformat(),
        "name": run.name,
        "gold": str(run.release),
        "layer": run.release.layer,
        "pipeline": run.pipeline,
        "pipeline_version": run.pipeline_version,
        **by_split,
        "cases": _of(means.get(recall), "n"),
        "recall_ci_low": _of(means.get(recall), "ci_low"),
        "recall_ci_high": _of(means.get(recall), "ci_high"),
        "precision_ci_low": _of(means.get(precision), "ci_low"),
        "precision_ci_high": _of(means.get(precision), "ci_high"),
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


def _of(row: Aggregate | None, name: str) -> Any:
    return getattr(row, name, None)


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
