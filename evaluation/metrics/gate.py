"""Is a run good enough, and no worse than the one before? Thresholds and drift, by metric.

The definitions are in templates/docs/metrics.md, "Gates".
"""

from dataclasses import asdict, dataclass
from typing import Any, Literal

from evaluation.metrics.comparison import Comparison
from evaluation.metrics.metric import Metric
from labeling.domain.numbers import decimals_apart
from labeling.domain.sentences import Sentence, noted

DEFAULTS = {
    "requirement_precision": 0.85,
    "requirement_recall": 0.80,
    "false_inference_rate": 0.15,
    "issue_recall": 0.90,
}
"""What holds where a project asks for nothing else: at least, or at most where lower is better."""

MAX_DROP = 0.03
"""How much worse than its baseline a run may be, even where the difference is no chance."""

JUDGED = frozenset({"faithfulness", "relevance", "completeness", "correctness"})
"""Metrics that a language model judges: they may decide only with a certificate of the judge."""

TOLERANCE = 1e-9

NO_SHARED_CASE = noted("no case has a value in both runs")
NO_INTERVAL = noted(
    "the drop is too large, and with fewer than two conversations chance cannot be told"
)
NO_CERTIFICATE = noted(
    "no certificate: this judge was not yet asked the probes and compared with people, so it "
    "decides nothing; see the page Judges of answers"
)


@dataclass(frozen=True, slots=True)
class Check:
    """One threshold, or one comparison with the baseline, and what came of it.

    ``value`` is the run's figure; of a drift it is the drop, above 0 when the run is worse, with
    the interval of the paired difference turned the same way. ``reason`` says in words why it
    failed; it is empty if it passed.
    """

    metric: str
    kind: Literal["threshold", "drift"]
    passed: bool
    value: float | None
    limit: float
    direction: str
    reason: str = ""
    ci_low: float | None = None
    ci_high: float | None = None

    def as_json(self) -> dict[str, Any]:
        """``said`` holds the pattern of a reason with values, for a reader of another language."""
        found = asdict(self) | {"reason": str(self.reason)}
        if isinstance(self.reason, Sentence):
            found["said"] = self.reason.as_json()
        return found


def check_threshold(
    metric: Metric, value: float | None, threshold: float, *, why_undefined: str = ""
) -> Check:
    """At least the threshold, or at most where lower is better; undefined does not pass.

    Examples
    --------
    >>> recall = Metric("recall", 1, frozenset(), "Recall", "")
    >>> check_threshold(recall, 0.8, 0.8).passed, check_threshold(recall, 0.0, 0.0).passed
    (True, True)
    >>> check_threshold(recall, None, 0.0, why_undefined="no case").reason
    'undefined: no case'
    """
    found = {
        "metric": metric.id,
        "kind": "threshold",
        "value": value,
        "limit": threshold,
        "direction": metric.direction,
    }
    if value is None:
        return Check(**found, passed=False, reason=f"undefined: {why_undefined}")  # type: ignore[arg-type]
    short = threshold - value if metric.direction == "higher" else value - threshold
    if short <= TOLERANCE:
        return Check(**found, passed=True)  # type: ignore[arg-type]
    side = "below" if metric.direction == "higher" else "above"
    reason = f"{_told(value, threshold)} is {side} {threshold:g}"
    return Check(**found, passed=False, reason=reason)  # type: ignore[arg-type]


def check_drift(metric: Metric, found: Comparison, max_drop: float) -> Check:
    """Fails if the run is worse by more than ``max_drop`` and the paired interval excludes 0."""
    sign = -1 if metric.direction == "higher" else 1
    drop = None if found.difference is None else _times(sign, found.difference)
    low, high = _turned(found, sign)
    reason = _why_drifted(drop, low, max_drop, has_interval=low is not None)
    return Check(
        metric=metric.id,
        kind="drift",
        passed=not reason,
        value=drop,
        limit=max_drop,
        direction=metric.direction,
        reason=reason,
        ci_low=low,
        ci_high=high,
    )


def uncertified(
    metric: Metric, value: float | None, threshold: float, *, why: str = NO_CERTIFICATE
) -> Check:
    """A judged figure whose judge has no certificate."""
    return Check(metric.id, "threshold", False, value, threshold, metric.direction, reason=why)


def _turned(found: Comparison, sign: int) -> tuple[float | None, float | None]:
    if found.ci_low is None or found.ci_high is None:
        return None, None
    ends = sorted((_times(sign, found.ci_low), _times(sign, found.ci_high)))
    return ends[0], ends[1]


def _times(sign: int, value: float) -> float:
    return sign * value + 0.0  # −0 becomes 0


def _why_drifted(
    drop: float | None, low: float | None, max_drop: float, *, has_interval: bool
) -> str:
    if drop is None:
        return f"undefined: {NO_SHARED_CASE}"
    if drop <= max_drop + TOLERANCE:
        return ""
    if not has_interval:
        return NO_INTERVAL
    if low is not None and low > 0:
        told = _told(drop, max_drop)
        return f"worse than the baseline by {told}, more than {max_drop:g}, and not by chance"
    return ""


def _told(value: float, limit: float) -> str:
    return f"{value:.{decimals_apart(value, limit, 3)}f}"
