"""All metrics by name and by layer; ``catalog`` holds the definitions of ours."""

from evaluation.metrics.catalog import ROWS
from evaluation.metrics.installed import checker
from evaluation.metrics.metric import Metric, Value
from labeling.domain.plugins import Registry

METRICS_VERSION = "2.0"
"""Raised whenever the definition of any metric changes; logged with each run."""

PROTOCOL_VERSION = "1.0"
"""Raised whenever the way cases are run and averaged changes; logged with each run."""

__all__ = [
    "METRICS",
    "METRICS_VERSION",
    "PROTOCOL_VERSION",
    "Metric",
    "Value",
    "metrics_for",
    "metrics_in",
]

OF_JUDGES = "answers"
"""The metrics of a run's answers are those of its judge: no package adds to them."""

METRICS: Registry[Metric] = Registry(
    "assay.metrics",
    {metric.id: metric for metric in ROWS},
    checker({layer for metric in ROWS for layer in metric.layers} - {OF_JUDGES}),
)
"""All metrics by identifier, in the order in which they are shown: ours, then those of packages."""


def metrics_for(layer: str) -> list[Metric]:
    """The metrics of a label layer, in the order in which they are shown.

    Raises
    ------
    ValueError
        If no metric belongs to ``layer``: a typo must not become an empty report.

    Examples
    --------
    >>> [metric.id for metric in metrics_for("extraction")][:2]
    ['requirement_recall', 'requirement_precision']
    """
    metrics = [metric for metric in METRICS.values() if layer in metric.layers]
    if not metrics:
        raise ValueError(f"metrics_for: no metric is defined for layer {layer!r}")
    return metrics


def metrics_in(layer: str, *, answered: bool) -> list[Metric]:
    """The metrics of a run on a layer: those of answers only if it has any.

    Examples
    --------
    >>> [metric.id for metric in metrics_in("qa", answered=True)][-1]
    'answer_token_f1'
    >>> [metric.id for metric in metrics_in("qa", answered=False)][-1]
    'mrr'
    """
    return [*metrics_for(layer), *(metrics_for(OF_JUDGES) if answered else [])]
