"""The list of all metrics, and what a metric's value is.

A value is a finite ``float`` or *undefined*: ``None`` with the reason. Undefined
is never averaged as 0 or 1; summaries count it beside the figure.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

METRICS_VERSION = "1.0"
"""Raised whenever the definition of any metric changes; logged with each run."""

PROTOCOL_VERSION = "1.0"
"""Raised whenever the way cases are run and averaged changes; logged with each run."""

Direction = Literal["higher", "lower"]
Scope = Literal["case", "run"]


@dataclass(frozen=True, slots=True)
class Value:
    """One score: a finite number, or ``None`` with the reason why there is none.

    ``detail`` is what a page needs to explain the number (plain JSON).

    Raises
    ------
    ValueError
        For NaN or infinity, and for ``None`` without a reason.

    Examples
    --------
    >>> Value(0.5).value
    0.5
    >>> Value(None, "nothing was matched").reason
    'nothing was matched'
    >>> Value(None)
    Traceback (most recent call last):
        ...
    ValueError: Value: an undefined value needs a reason
    """

    value: float | None
    reason: str = ""
    detail: Any = None

    def __post_init__(self) -> None:
        if self.value is None and not self.reason:
            raise ValueError("Value: an undefined value needs a reason")
        if self.value is not None and not math.isfinite(self.value):
            raise ValueError(f"Value: {self.value} is no score; use None with a reason")


@dataclass(frozen=True, slots=True)
class Metric:
    """What is known about a metric before anything is computed.

    ``version`` is raised whenever the same input may give another score.
    ``scope`` is ``case`` (one value per case, then summarised) or ``run`` (one
    value over all cases pooled). ``lower`` and ``upper`` bound every value.
    """

    id: str
    version: int
    layers: frozenset[str]
    title: str
    summary: str
    direction: Direction = "higher"
    lower: float = 0.0
    upper: float = 1.0
    scope: Scope = "case"

    @property
    def worst(self) -> float:
        """The value that a case scores when its pipeline failed."""
        return self.lower if self.direction == "higher" else self.upper


def _extraction() -> Iterator[Metric]:
    layers = frozenset({"extraction"})
    for id_, title, summary in [
        (
            "requirement_recall",
            "Requirement recall",
            "Share of the gold requirements that have a one-to-one match: similar title and "
            "action, same type, same actor.",
        ),
        (
            "requirement_precision",
            "Requirement precision",
            "Share of the extracted requirements that have a one-to-one match in gold.",
        ),
        (
            "requirement_f1",
            "Requirement F1",
            "Harmonic mean of requirement recall and precision.",
        ),
        (
            "type_accuracy",
            "Type accuracy",
            "Share of the pairs matched by text alone whose types are equal.",
        ),
        (
            "actor_accuracy",
            "Actor accuracy",
            "Share of the pairs matched by text alone whose actors are equal or synonyms.",
        ),
        (
            "priority_accuracy",
            "Priority accuracy",
            "Share of the pairs matched by text alone whose priorities are equal.",
        ),
        (
            "source_overlap",
            "Source overlap",
            "Jaccard overlap of the cited source messages, averaged over the pairs matched by "
            "text alone.",
        ),
        (
            "criteria_completeness",
            "Criteria completeness",
            "Share of a matched gold requirement's acceptance criteria that were extracted too, "
            "averaged over the matches.",
        ),
    ]:
        yield Metric(id_, 1, layers, title, summary)


def _calibration() -> Iterator[Metric]:
    layers = frozenset({"extraction"})
    for id_, title, summary in [
        (
            "ece",
            "Expected calibration error",
            "Distance between stated confidence and share correct, averaged over ten "
            "confidence bins by their size.",
        ),
        (
            "mce",
            "Maximum calibration error",
            "Distance between stated confidence and share correct in the worst bin.",
        ),
        (
            "brier",
            "Brier score",
            "Mean squared distance between stated confidence and being correct (0 or 1).",
        ),
    ]:
        yield Metric(id_, 1, layers, title, summary, direction="lower", scope="run")


METRICS: dict[str, Metric] = {metric.id: metric for metric in [*_extraction(), *_calibration()]}
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
    found = [metric for metric in METRICS.values() if layer in metric.layers]
    if not found:
        raise ValueError(f"metrics_for: no metric is defined for layer {layer!r}")
    return found
