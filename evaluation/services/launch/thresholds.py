"""What a gate asks of a run: the product's defaults, the project's own, and the run's own."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from typing import Any

from evaluation.layers import gold_layer
from evaluation.layers.memory import Memory
from evaluation.metrics.gate import DEFAULTS, MAX_DROP
from evaluation.metrics.registry import METRICS, Metric, metrics_for
from evaluation.models import GateThresholds
from evaluation.models.spec import GateSpec
from labeling.core import events
from labeling.domain.errors import RuleError
from labeling.models import GoldRelease, Project


class ThresholdRefused(RuleError, code="threshold_refused"):
    """The metric does not exist, or cannot have such a value."""


def describe(release: GoldRelease) -> GateSpec:
    """The gate in force for this gold, as a run writes it down when it is launched."""
    gate = in_force(own_of(release.project))
    names = {metric.id for metric in metrics_of([release.layer])}
    asked = {name: value for name, value in gate.thresholds.items() if name in names}
    return gate.model_copy(update={"thresholds": asked})


def own_of(project: Project) -> GateThresholds | None:
    return GateThresholds.objects.filter(project=project).select_related("changed_by").first()


def in_force(own: GateThresholds | None) -> GateSpec:
    """The defaults with the project's changes; ``None`` lifts a default. 0 is a threshold."""
    asked: dict[str, float | None] = {**DEFAULTS, **(own.thresholds if own else {})}
    return GateSpec(
        thresholds={name: value for name, value in asked.items() if value is not None},
        max_drop=own.max_drop if own and own.max_drop is not None else MAX_DROP,
    )


def metrics_of(layers: Collection[str]) -> list[Metric]:
    """What thresholds may be set for; where questions are asked, their answers have figures too."""
    metrics = [metric for layer in layers for metric in metrics_for(layer)]
    if any(isinstance(gold_layer(layer), Memory) for layer in layers):
        metrics += metrics_for("answers")
    return list(dict.fromkeys(metrics))


def store(
    project: Project, limits: Mapping[str, float | None], max_drop: float | None, *, by: Any
) -> None:
    """Keep what differs from the defaults. Runs that were launched before keep their gate."""
    for name, value in limits.items():
        if value is not None:
            check(name, value)
    if max_drop is not None and not (math.isfinite(max_drop) and 0 <= max_drop <= 1):
        raise ThresholdRefused("threshold.drop")
    own = {name: value for name, value in limits.items() if value != DEFAULTS.get(name)}
    GateThresholds.objects.update_or_create(
        project=project,
        defaults={
            "thresholds": own,
            "max_drop": None if max_drop == MAX_DROP else max_drop,
            "changed_by": by,
        },
    )
    listed = ", ".join(f"{name} {value}" for name, value in sorted(own.items())) or "the defaults"
    events.record("gate.changed", project, project=project, actor=by, thresholds=listed)


def check(name: str, value: float) -> None:
    metric: Metric | None = METRICS.get(name)
    if metric is None:
        raise ThresholdRefused("threshold.unknown_metric", name=name, details={"metric": name})
    if not math.isfinite(value) or not metric.lower <= value <= metric.upper:
        raise ThresholdRefused(
            "threshold.out_of_range",
            name=name,
            lower=metric.lower if math.isfinite(metric.lower) else str(metric.lower),
            upper=metric.upper if math.isfinite(metric.upper) else str(metric.upper),
            value=value if math.isfinite(value) else str(value),
            details={"metric": name},
        )
