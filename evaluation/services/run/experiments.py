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
from labeling.domain.csv_cells import csv_line

SPLITS = ("train", "test", "dev", "open", "all")
COLUMNS = (
    *("experiment_id", "date", "name", "gold", "layer", "pipeline", "pipeline_version"),
    *(f"{split}_{name}" for split in SPLITS for name in ("exact_recall", "precision")),
    *("cases", "recall_ci_low", "recall_ci_high", "precision_ci_low", "precision_ci_high"),
    *("config_summary", "config_changes", "config_sha256", "commit", "synthetic"),
    *("seen", "left_out", "unseen", "sealed"),
)
"""In order; the intervals are those of the whole run."""
OF_TEST = [name for name in COLUMNS if name.startswith(("test_", "all_")) or "_ci_" in name]
"""Parts of other splits say nothing about test items."""

ExperimentRow = dict[str, Any]

Part = tuple[int, str, str]
"""A run, a split and a metric."""


def csv_lines(
    runs: RunQuerySet, *, sealed: Callable[[Iterable[Run]], Collection[int]]
) -> Iterator[str]:
    yield csv_line(COLUMNS)
    for row in rows(runs, sealed=sealed):
        values = (row[column] for column in COLUMNS)
        yield csv_line([f"{each:.4f}" if isinstance(each, float) else each for each in values])


def rows(
    runs: RunQuerySet, *, sealed: Callable[[Iterable[Run]], Collection[int]] = lambda runs: ()
) -> list[ExperimentRow]:
    """Oldest first; what changed is listed against the run before on gold of the same name.

    ``sealed`` tells which runs keep their test figures to themselves.
    """
    shown = [metric for layer in GOLD_LAYERS.values() for metric in layer.log or ()]
    light = Aggregate.objects.filter(metric__in=shown).defer("detail", "yardsticks")
    finished = runs.filter(scored_at__isnull=False).order_by("pk").select_related("release")
    light_runs = finished.defer("release__header", "release__agreement", "release__left_out")
    loaded = list(light_runs.with_synthetic().prefetch_related(Prefetch("aggregates", light)))
    parts, kept = _parts(loaded, shown), sealed(loaded)
    counts = exposures.of_runs(run.pk for run in loaded)
    before = lists.predecessors(loaded)
    return [
        _row(run, before.get(run.pk), parts)
        | {name: counts[run.pk][name] for name in ("seen", "left_out", "unseen")}
        | {"sealed": run.pk in kept, **(dict.fromkeys(OF_TEST) if run.pk in kept else {})}
        for run in loaded
    ]


def _parts(runs: Sequence[Run], metrics: Sequence[str]) -> dict[Part, float]:
    """The figures of runs on several splits, split by split: what their cases add up to."""
    several = [run.pk for run in runs if run.split in ("", OPEN)]
    scores = Score.objects.filter(case__run__in=several, metric__in=metrics, weight__gt=0)
    names = ("case__run", "case__item__split", "metric", "metric_version")
    sums = scores.order_by().values_list(*names).annotate(Sum("numerator"), Sum("weight"))
    return {
        (run, split, metric): top / bottom
        for run, split, metric, version, top, bottom in sums
        if _in_force(metric, version)
    }


def _in_force(metric: str, version: int) -> bool:
    """A metric of a package that is not installed any more is not."""
    return metric in METRICS and METRICS[metric].version == version


def _row(run: Run, before: Run | None, parts: Mapping[Part, float]) -> ExperimentRow:
    names = GOLD_LAYERS[run.release.layer].log or ("", "")
    figures = {
        row.metric: row for row in run.aggregates.all() if _in_force(row.metric, row.metric_version)
    }
    recall, precision = (figures.get(name) for name in names)
    by_split = {}
    for split in SPLITS:
        of_split = [parts.get((run.pk, split, name)) for name in names]
        if split == (run.split or "all"):
            of_split = [_of(recall, "mean"), _of(precision, "mean")]
        by_split[f"{split}_exact_recall"], by_split[f"{split}_precision"] = of_split
    changes = changed(before, run).items() if before else ()  # the first run is the baseline
    marked: Any = run  # by with_synthetic()
    return {
        "experiment_id": run.pk,
        "date": run.created_at.isoformat(),
        "gold": str(run.release),
        "layer": run.release.layer,
        **{name: getattr(run, name) for name in ("name", "pipeline", "pipeline_version")},
        **by_split,
        "cases": _of(recall, "n"),
        **{f"recall_{end}": _of(recall, end) for end in ("ci_low", "ci_high")},
        **{f"precision_{end}": _of(precision, end) for end in ("ci_low", "ci_high")},
        "config_summary": ", ".join(f"{name}={value}" for name, value in run.config.items()),
        "config_changes": "; ".join(
            f"{name}: {_text(old)} → {_text(new)}" for name, (old, new) in changes
        ),
        "config_sha256": run.config_sha256,
        "commit": run.spec.git.commit if run.spec.git else None,
        "synthetic": marked.holds_synthetic,
    }


def _of(row: Aggregate | None, name: str) -> Any:
    return getattr(row, name, None)


def _text(value: Any) -> str:
    return "–" if value is None else str(value)
