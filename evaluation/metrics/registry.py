"""The list of all metrics by name and by layer; ``catalog`` holds their definitions."""

from evaluation.metrics.catalog import ROWS
from evaluation.metrics.metric import Metric, Value

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

METRICS: dict[str, Metric] = {metric.id: metric for metric in ROWS}
"""All metrics by identifier, in the order in which they are shown."""


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
    return [*metrics_for(layer), *(metrics_for("answers") if answered else [])]
