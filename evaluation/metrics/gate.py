"""Is a run good enough, and no worse than the one before? Thresholds and drift, by metric.

The definitions are in templates/docs/metrics.md, "Gates".
"""

from dataclasses import dataclass
from typing import Annotated, Literal

from evaluation.metrics.comparison import Comparison, Verdict
from evaluation.metrics.metric import Metric
from labeling.domain.facts import Fact
from labeling.domain.numbers import decimals_apart
from labeling.domain.stored import Stored, as_json

DEFAULTS = {
    "requirement_precision": 0.85,
    "requirement_recall": 0.80,
    "false_inference_rate": 0.15,
    "issue_recall": 0.90,
}
"""What holds where a project asks for nothing else: at least, or at most where lower is better."""

MAX_DROP = 0.03
"""How much worse than its baseline a run may be, even where the difference is significant."""

JUDGED = frozenset({"faithfulness", "relevance", "completeness", "correctness"})
"""Metrics that a language model judges: they may decide only with a certificate of the judge."""

TOLERANCE = 1e-9

NO_SHARED_CASE = Fact("gate.no_shared_case")
FORMER = ("gate.no_interval",)
"""Reasons of stored results that no check gives any more."""

AT_FLOOR = Fact("gate.at_floor")
UNDECIDED = Fact("gate.undecided")
MAY_BE_CHANCE = Fact("gate.may_be_chance")
NO_CERTIFICATE = Fact("certificate.none")


CheckKind = Literal["threshold", "drift", "coverage"]
"""A limit of a figure; the change since a baseline; how many cases have a value at all."""

Change = Literal["gain", "drop", "same"]
"""What became of a metric since the baseline."""


@dataclass(frozen=True, slots=True)
class Check:
    """One threshold, or one comparison with the baseline, and what came of it.

    ``value`` is the run's figure; of a drift it is the drop, above 0 when the run is worse, with
    the interval of the paired difference turned the same way. ``reason`` says why it failed, or
    why it passed beyond its limit.
    """

    metric: str
    kind: CheckKind
    passed: bool
    value: float | None
    limit: float
    direction: str
    reason: Annotated[Fact | None, "Why it did not pass, or passed beyond its limit"] = None
    ci_low: float | None = None
    ci_high: float | None = None
    verdict: Verdict | None = None
    chance: Annotated[
        float | None, "Of a threshold: how probable it is that the true figure passes"
    ] = None
    strict: Annotated[
        bool | None, "Of a drift: whether an undecided one beyond its limit fails"
    ] = None

    @property
    def change(self) -> Change | None:
        """Which way a metric went since the baseline; None for a threshold, or without figures."""
        if self.kind != "drift" or self.value is None:
            return None
        if abs(self.value) <= TOLERANCE:
            return "same"
        return "drop" if self.value > 0 else "gain"

    @property
    def at_least(self) -> bool:
        """Whether the limit is a lower one."""
        return self.kind != "drift" and self.direction == "higher"

    def as_json(self) -> Stored:
        return as_json(self)


def check_threshold(
    metric: Metric,
    value: float | None,
    threshold: float,
    *,
    why_undefined: Fact | None = None,
    interval: tuple[float | None, float | None] = (None, None),
    chance: float | None = None,
) -> Check:
    """At least the threshold, or at most where lower is better; undefined does not pass.

    ``interval`` is that of the figure, and ``chance`` how probable it is that the true one passes.

    Examples
    --------
    >>> recall = Metric("recall", 1, frozenset(), "Recall", "")
    >>> check_threshold(recall, 0.8, 0.8).passed, check_threshold(recall, 0.0, 0.0).passed
    (True, True)
    >>> check_threshold(recall, None, 0.0, why_undefined=NO_SHARED_CASE).reason.code
    'gate.undefined'
    """
    fields = {
        "metric": metric.id,
        "kind": "threshold",
        "value": value,
        "limit": threshold,
        "direction": metric.direction,
        "ci_low": interval[0],
        "ci_high": interval[1],
        "chance": chance,
    }
    if value is None:
        return Check(**fields, passed=False, reason=Fact("gate.undefined", reason=why_undefined))  # type: ignore[arg-type]
    short = threshold - value if metric.direction == "higher" else value - threshold
    if short <= TOLERANCE:
        return Check(**fields, passed=True)  # type: ignore[arg-type]
    code = "gate.below" if metric.direction == "higher" else "gate.above"
    digits = decimals_apart(value, threshold, 3)
    reason = Fact(code, value=value, limit=threshold, digits=digits)
    return Check(**fields, passed=False, reason=reason)  # type: ignore[arg-type]


def check_drift(
    metric: Metric,
    comparison: Comparison,
    verdict: Verdict,
    max_drop: float,
    *,
    strict: bool = False,
    floor: float | None = None,
) -> Check:
    """Fails if the verdict is *worse*, and by more than ``max_drop``.

    A larger drop to the worst value there is, or to the ``floor`` of who returns nothing, fails
    whatever a test says. If ``strict``, so does one that is undecided.
    """
    sign = -1 if metric.direction == "higher" else 1
    drop = None if comparison.difference is None else _times(sign, comparison.difference)
    low, high = _turned(comparison, sign)
    over = drop is not None and drop > max_drop + TOLERANCE
    failed = None
    if drop is None:
        failed = Fact("gate.undefined", reason=NO_SHARED_CASE)
    elif over and verdict == "worse":
        digits = decimals_apart(drop, max_drop, 3)
        failed = Fact("gate.drifted", drop=drop, limit=max_drop, digits=digits)
    elif over and any(_fell_to(end, comparison, sign) for end in (metric.worst, floor)):
        failed = AT_FLOOR
    elif over and strict:
        failed = UNDECIDED
    return Check(
        metric=metric.id,
        kind="drift",
        passed=not failed,
        value=drop,
        limit=max_drop,
        direction=metric.direction,
        reason=failed or (MAY_BE_CHANCE if over else None),
        ci_low=low,
        ci_high=high,
        verdict=verdict,
        strict=strict,
    )


def _fell_to(floor: float | None, comparison: Comparison, sign: int) -> bool:
    before, after = comparison.before, comparison.after
    if floor is None or before is None or after is None:
        return False
    return sign * (before - floor) < -TOLERANCE and sign * (after - floor) >= -TOLERANCE


def uncertified(
    metric: Metric, value: float | None, threshold: float, *, why: Fact = NO_CERTIFICATE
) -> Check:
    """A judged figure whose judge has no certificate."""
    return Check(metric.id, "threshold", False, value, threshold, metric.direction, reason=why)


def _turned(comparison: Comparison, sign: int) -> tuple[float | None, float | None]:
    if comparison.ci_low is None or comparison.ci_high is None:
        return None, None
    ends = sorted((_times(sign, comparison.ci_low), _times(sign, comparison.ci_high)))
    return ends[0], ends[1]


def _times(sign: int, value: float) -> float:
    return sign * value + 0.0  # −0 becomes 0
