"""Two runs side by side, where that means something: the same gold, the same cases."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from math import fsum
from typing import Any

from evaluation.layers import gold_layer
from evaluation.metrics.comparison import Comparison, compare, holm, verdict
from evaluation.metrics.registry import Metric, metrics_for
from evaluation.models import Aggregate, CaseRun, Run, Score
from labeling.domain.errors import RuleError
from labeling.domain.facts import Fact

CaseKey = tuple[int, str]
"""Gold item and part: the same in every run on a release."""


class NotComparable(RuleError):
    """The runs were not made on the same gold, or are not finished."""

    code = "runs_not_comparable"


@dataclass(frozen=True, slots=True)
class MetricComparison:
    metric: Metric
    comparison: Comparison
    corrected_p: float | None
    """Corrected for the main metrics being looked at together (Holm); None for any other."""
    tested: bool = True
    """Whether it is a main metric of the layer. The others explain, and decide nothing."""

    @property
    def verdict(self) -> str:
        if not self.tested:
            return "exploratory"
        return verdict(self.comparison, self.metric.direction, self.corrected_p)


@dataclass(frozen=True, slots=True)
class Compared:
    before: Run
    after: Run
    rows: list[MetricComparison]
    only_before: int
    only_after: int
    changed: dict[str, tuple[Any, Any]]
    """Settings that differ, with both values."""
    judges_differ: list[str]
    """Metrics that were judged by another model, setting, prompt or parser in each run."""

    def as_json(self) -> dict[str, Any]:
        return {
            "before": _run_json(self.before),
            "after": _run_json(self.after),
            "gold": str(self.after.release),
            "only_before": self.only_before,
            "only_after": self.only_after,
            "changed": {name: list(values) for name, values in self.changed.items()},
            "judges_differ": self.judges_differ,
            "metrics": {
                row.metric.id: row.comparison.as_json()
                | {"tested": row.tested, "p_value_holm": row.corrected_p, "verdict": row.verdict}
                for row in self.rows
            },
        }


def compare_runs(before: Run, after: Run) -> Compared:
    """Every metric with a value per case, over the cases that both runs scored.

    Only the main metrics of the layer are tested: they were named before anybody saw a figure.
    """
    _check(before, after)
    metrics = _main_first(before, after)
    old, new = _values(before, metrics), _values(after, metrics)
    owners = _conversations(after)
    shared = [key for key in old if key in new]
    comparisons = [
        compare(
            [old[key].get(metric.id) for key in shared],
            [new[key].get(metric.id) for key in shared],
            clusters=[owners[key] for key in shared],
            direction=metric.direction,
            seed=after.seed,
        )
        for metric in metrics
    ]
    return Compared(
        before=before,
        after=after,
        rows=_rows(metrics, comparisons, gold_layer(after.spec.layer).headline),
        only_before=len(old) - len(shared),
        only_after=len(new) - len(shared),
        changed=changed(before, after),
        judges_differ=_judges_differ(before, after),
    )


def _main_first(before: Run, after: Run) -> list[Metric]:
    """What both runs have: only one of them may have answers."""
    shared = [metric for metric in after.spec.all_metrics() if metric in before.spec.all_metrics()]
    main = gold_layer(after.spec.layer).headline
    return sorted(
        (metric for metric in shared if metric.per_case), key=lambda metric: metric.id not in main
    )


def _judges_differ(before: Run, after: Run) -> list[str]:
    """The metrics whose figures are those of another judge in each run."""
    old, new = _judges(before), _judges(after)
    return [name for name in old if name in new and old[name] != new[name]]


def _judges(run: Run) -> dict[str, str]:
    rows = Aggregate.objects.filter(run=run, detail__has_key="judge").order_by("pk")
    return dict(rows.values_list("metric", "detail__judge__judge_sha256"))


def _rows(
    metrics: list[Metric], comparisons: list[Comparison], main: Collection[str]
) -> list[MetricComparison]:
    tested = [metric.id in main for metric in metrics]
    p_values = [
        comparison.p_value if is_main else None
        for comparison, is_main in zip(comparisons, tested, strict=True)
    ]
    return [
        MetricComparison(*fields)
        for fields in zip(metrics, comparisons, holm(p_values), tested, strict=True)
    ]


def _check(before: Run, after: Run) -> None:
    for run in (before, after):
        if run.scored_at is None:
            raise NotComparable("compare.not_scored", pk=run.pk)
    if before.release_id != after.release_id:
        raise NotComparable(
            "compare.other_gold",
            pk=before.pk,
            release=str(before.release),
            pk2=after.pk,
            release2=str(after.release),
        )
    problem = _measured_otherwise(before, after)
    if problem:
        raise NotComparable(problem)


def _measured_otherwise(before: Run, after: Run) -> Fact | None:
    """Why figures on the same gold mean different things, if they do."""
    old, new = before.spec, after.spec
    if _differ_in_metrics(old.metrics, new.metrics):
        return Fact("compare.other_versions")
    if old.metrics_config != new.metrics_config:
        return Fact("compare.other_settings")
    if gold_layer(new.layer).matched and old.matching != new.matching:
        return Fact("compare.other_matching")
    if len({_basis(before), _basis(after)} - {None}) > 1:
        return Fact("compare.other_basis")
    return None


def _differ_in_metrics(old: Mapping[str, int], new: Mapping[str, int]) -> bool:
    """Whether their versions do; only one of the runs may have answers."""
    answers = {metric.id for metric in metrics_for("answers")}
    names = (old.keys() | new.keys()) - (answers - (old.keys() & new.keys()))
    return any(old.get(name) != new.get(name) for name in names)


def _basis(run: Run) -> str | None:
    """Who judged what the run inferred; None if it inferred nothing, and in other layers."""
    rows = Aggregate.objects.filter(run=run, detail__micro__predicted__gt=0).order_by("-pk")
    return rows.values_list("detail__basis", flat=True).first()


def _values(run: Run, metrics: list[Metric]) -> dict[CaseKey, dict[str, float | None]]:
    """The value of every case and metric; the mean over repetitions, undefined if one is."""
    wanted = {metric.id: metric.version for metric in metrics}
    by_case: dict[CaseKey, dict[str, list[float | None]]] = defaultdict(lambda: defaultdict(list))
    rows = Score.objects.filter(case__run=run, metric__in=wanted)
    fields = ("case__item", "case__part", "metric", "metric_version", "value")
    for item, part, metric, version, value in rows.order_by("case").values_list(*fields):
        if wanted[metric] == version:
            by_case[item, part][metric].append(value)
    return {
        key: {metric: _mean(values) for metric, values in by_metric.items()}
        for key, by_metric in by_case.items()
    }


def _mean(values: list[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return fsum(known) / len(known) if known and len(known) == len(values) else None


def _conversations(run: Run) -> Mapping[CaseKey, int]:
    cases = CaseRun.objects.filter(run=run).order_by("pk")
    rows = cases.values_list("item_id", "part", "item__conversation_id")
    return {(item, part): conversation for item, part, conversation in rows}


def changed(before: Run, after: Run) -> dict[str, tuple[Any, Any]]:
    """What differs between the runs apart from their results, with both values."""
    old, new = _settings(before), _settings(after)
    names = [*old, *(name for name in new if name not in old)]
    return {
        name: (old.get(name), new.get(name)) for name in names if old.get(name) != new.get(name)
    }


def _settings(run: Run) -> dict[str, Any]:
    return {"pipeline": run.pipeline, "version": run.pipeline_version, **run.config}


def _run_json(run: Run) -> dict[str, Any]:
    return {
        "run": run.pk,
        "name": run.name,
        "pipeline": run.pipeline,
        "pipeline_version": run.pipeline_version,
        "config_sha256": run.config_sha256,
        "split": run.split or None,
    }
