"""What a metric is, and what its value is.

A value is a finite ``float`` or *undefined*: ``None`` with the reason. Undefined
is never averaged as 0 or 1; summaries count it next to the figure.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from labeling.domain.facts import Fact

Direction = Literal["higher", "lower"]
Scope = Literal["case", "micro", "run"]


class Share(NamedTuple):
    """What a case adds to the sums of a pooled ratio."""

    numerator: float
    denominator: float


@dataclass(frozen=True, slots=True)
class Value:
    """One score: a finite number, or ``None`` with the reason why there is none.

    ``detail`` is what a page needs to explain the number (plain JSON). ``share`` is what
    the case adds to the sums of a metric of scope ``micro``. ``chance`` is what a random answer
    of the same size is expected to score on this case, where the metric declares one.

    Raises
    ------
    ValueError
        For NaN or infinity, and for ``None`` without a reason.

    Examples
    --------
    >>> Value(0.5).value
    0.5
    >>> Value(None, Fact("metric.no_reference")).reason.code
    'metric.no_reference'
    >>> Value(None)
    Traceback (most recent call last):
        ...
    ValueError: Value: an undefined value needs a reason
    """

    value: float | None
    reason: Fact | None = None
    detail: Any = None
    share: Share | None = None
    chance: float | None = None

    def __post_init__(self) -> None:
        if self.value is None and not self.reason:
            raise ValueError("Value: an undefined value needs a reason")
        if self.value is not None and not math.isfinite(self.value):
            raise ValueError(f"Value: {self.value} is not a score; use None with a reason")


class Undefined(NamedTuple):
    """What a metric of an installed package returns where its definition gives no value."""

    reason: str
    """In a sentence: it is shown with the case."""


@dataclass(frozen=True, slots=True)
class MeasuredCase:
    """One case as a metric of an installed package reads it; nothing of it may be changed.

    ``messages`` have ``index`` (from 0), ``role``, ``speaker``, ``content`` and ``time``. ``gold``
    are the labels that were expected, ``predicted`` those of ``output``, in the shapes of the
    layer; for questions and arcs ``predicted`` are the returned phases.
    """

    layer: str
    messages: Sequence[Mapping[str, Any]]
    gold: Sequence[Mapping[str, Any]]
    predicted: Sequence[Mapping[str, Any]]
    output: Mapping[str, Any]


Compute = Callable[[MeasuredCase], float | Share | Undefined]
"""How a metric of an installed package measures a case; a :class:`Share` where it is pooled."""


@dataclass(frozen=True, slots=True)
class Metric:
    """What is known about a metric before anything is computed.

    ``version`` is raised whenever the same input may give another score.
    ``scope`` is ``case`` (one value per case, then averaged), ``micro`` (one value
    per case, but the run's value is the ratio of the summed counts) or ``run`` (one
    value over all cases pooled). ``lower`` and ``upper`` bound every value. A
    ``diagnostic`` explains the others and is shown separately. Our own are computed by the
    functions of their layer; a metric of an installed package has ``compute``.
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
    failure: float | None = None
    """What a failed case scores, where that is not the end of the range."""
    diagnostic: bool = False
    chance: str = ""
    """What a random answer of the same size is, where one may score; empty: no chance level."""
    compute: Compute | None = None

    @property
    def per_case(self) -> bool:
        """Whether each case has a value."""
        return self.scope != "run"

    @property
    def worst(self) -> float:
        """The value that a case scores when its pipeline failed."""
        if self.failure is not None:
            return self.failure
        return self.lower if self.direction == "higher" else self.upper


def rows(layers: str, *definitions: tuple[str, str, str], **options: Any) -> list[Metric]:
    """Metrics that differ only in what they are called and what they say."""
    names = frozenset(layers.split())
    version = options.pop("version", 1)
    return [
        Metric(id_, version, names, title, summary, **options)
        for id_, title, summary in definitions
    ]
