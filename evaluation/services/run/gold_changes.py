"""A difference between runs on two releases: what gold changed, and what the pipeline changed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, TypeVar

from evaluation.layers import gold_layer
from evaluation.metrics.comparison import Comparison, compare
from evaluation.metrics.metric import Metric, Share
from evaluation.metrics.registry import METRICS
from evaluation.models import CaseRun, Run
from evaluation.services.launch import carrying
from evaluation.services.run import comparisons
from evaluation.services.run.comparisons import NotComparable
from evaluation.services.run.primary_metrics import primary_of

T = TypeVar("T")
Key = tuple[str, str]
"""Item and label by their ids, which both releases share."""


@dataclass(frozen=True, slots=True)
class GoldSplit:
    """One metric of run X on the old gold and run Y on the new, with X carried to the new between.

    All three are measured on the same cases, so that the two parts add up to the whole.
    """

    metric: Metric
    is_primary: bool
    gold_changed: Comparison
    """X on the old gold against X on the new."""
    pipeline_changed: Comparison
    """X on the new gold against Y."""

    @property
    def total(self) -> float | None:
        first, last = self.gold_changed.before, self.pipeline_changed.after
        return None if first is None or last is None else last - first

    def as_json(self) -> dict[str, Any]:
        return {
            "metric": self.metric.id,
            "direction": self.metric.direction,
            "total": self.total,
            "gold_changed": asdict(self.gold_changed),
            "pipeline_changed": asdict(self.pipeline_changed),
        }


@dataclass(frozen=True, slots=True)
class SplitDifference:
    before: Run
    carried: Run
    after: Run
    rows: list[GoldSplit]
    shared: int
    """Cases of all three."""

    def as_json(self) -> dict[str, Any]:
        return {
            "baseline": self.before.pk,
            "baseline_gold": str(self.before.release),
            "carried": self.carried.pk,
            "run": self.after.pk,
            "gold": str(self.after.release),
            "cases": self.shared,
            "metrics": [row.as_json() for row in self.rows],
        }


def is_other_gold(before: Run, after: Run) -> bool:
    """Whether they were measured on two versions of one gold, so that their difference is split."""
    old, new = before.release, after.release
    return old.pk != new.pk and old.name == new.name


def split(before: Run, after: Run) -> SplitDifference:
    """Split the difference; the older run has to be carried to the newer gold first."""
    carried = carrying.carried_to(before, after.gold_id)
    if carried is None:
        raise NotComparable(
            "compare.carry_first", pk=before.pk, release=str(after.release), pk2=after.pk
        )
    for run in (before, carried, after):
        if run.scored_at is None:
            raise NotComparable("compare.not_scored", pk=run.pk)
    if carried.pk != after.pk and (problem := comparisons.why_not(carried, after)):
        raise NotComparable(problem)
    runs = (before, carried, after)
    metrics = _metrics(*runs)
    primary = primary_of(after.release.project, after.spec.layer).metric.id
    owners = _owners(runs)
    tables = [_shares(run, metrics) for run in runs]
    rows = [
        _row(metric, [table[metric.id] for table in tables], owners, metric.id == primary)
        for metric in sorted(metrics, key=lambda metric: metric.id != primary)
    ]
    return SplitDifference(before, carried, after, rows, len(owners))


def _row(
    metric: Metric, shares: list[dict[Key, Share]], owners: dict[Key, int], is_primary: bool
) -> GoldSplit:
    keys = [key for key in owners if all(key in table for table in shares)]
    clusters = [owners[key] for key in keys]
    before, carried, after = ([table[key] for key in keys] for table in shares)
    return GoldSplit(
        metric,
        is_primary,
        compare(before, carried, clusters=clusters, metric=metric),
        compare(carried, after, clusters=clusters, metric=metric),
    )


def _metrics(*runs: Run) -> list[Metric]:
    """The main metrics, in the versions that all of them were scored by."""
    layer = gold_layer(runs[-1].spec.layer)
    known = [METRICS[name] for name in layer.headline]
    if any(run.spec.metrics.get(metric.id) != metric.version for run in runs for metric in known):
        raise NotComparable("compare.other_versions")
    return [metric for metric in known if metric.per_case]


def _owners(runs: Sequence[Run]) -> dict[Key, int]:
    """The conversation of every case that all of them have."""
    first, *others = (_named(run, comparisons.cases_of(run)) for run in runs)
    return {key: owner for key, owner in first.items() if all(key in cases for cases in others)}


def _shares(run: Run, metrics: list[Metric]) -> dict[str, dict[Key, Share]]:
    shares = comparisons.shares_by_metric(run, metrics)
    return {metric: _named(run, of_metric) for metric, of_metric in shares.items()}


def _named(run: Run, cases: Mapping[comparisons.CaseKey, T]) -> dict[Key, T]:
    """The same by the id of the item, which both releases share."""
    rows = CaseRun.objects.filter(run=run).order_by().values_list("item_id", "item__item_id")
    names: dict[int, str] = dict(rows.distinct())
    return {(names[item], part): value for (item, part), value in cases.items()}
