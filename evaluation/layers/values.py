"""Every value of one case, also where its pipeline failed or nothing can be scored."""

from __future__ import annotations

from dataclasses import replace

from evaluation.layers.base import (
    Context,
    Example,
    GoldLayer,
    failure_values,
    undefined_values,
)
from evaluation.metrics import installed
from evaluation.metrics.metric import MeasuredCase
from evaluation.metrics.registry import Value, metrics_for
from labeling.domain.facts import Fact

FAILED = Fact("metric.pipeline_failed")


def values_of(
    example: Example, layer: GoldLayer, context: Context, *, failed: bool
) -> dict[str, Value]:
    """By metric. What cannot be scored at all is nobody's failure, so it is looked at first."""
    unscorable = layer.unscorable(example)
    if unscorable:
        return undefined_values(metrics_for(layer.name), unscorable)
    if failed:
        return _failure_values(example, layer, context)
    return _scored(example, layer, context)


def _scored(example: Example, layer: GoldLayer, context: Context) -> dict[str, Value]:
    """By the layer's own functions, and by those of installed packages."""
    values = layer.score(example, context)
    added = [metric for metric in metrics_for(layer.name) if metric.compute]
    if not added:
        return values
    case = MeasuredCase(
        layer=layer.name,
        messages=example.messages,
        gold=example.gold,
        predicted=layer.predicted(example.output),
        output=example.output or {},
    )
    return values | installed.values_of(added, case)


def _failure_values(example: Example, layer: GoldLayer, context: Context) -> dict[str, Value]:
    """In sums a case that failed weighs as if it had returned as much as gold holds, all wrong."""
    metrics = metrics_for(layer.name)
    values = failure_values(metrics, FAILED)
    if layer.off or any(metric.scope == "micro" for metric in metrics):
        as_gold = _scored(replace(example, output=layer.as_output(example.gold)), layer, context)
        for name, value in values.items():
            off = as_gold[name].reason in layer.off
            values[name] = as_gold[name] if off else replace(value, share=as_gold[name].share)
    return values | {name: Value(None, why) for name, why in context.absent.items()}
