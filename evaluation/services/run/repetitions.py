"""What several tries of each case say, from the stored scores: nothing is measured or kept."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from evaluation.metrics.metric import Metric, Value
from evaluation.metrics.repetitions import all_of_k, pass_at_k
from evaluation.metrics.summary import summarize
from evaluation.models import Run, Score
from labeling.domain.facts import Fact

EQUAL = 1e-9
TOO_FEW = Fact("repetition.too_few")


class Tries(NamedTuple):
    """The defined values of one case, of all repetitions."""

    case_id: str
    conversation: int
    values: list[float]


class Reduced(NamedTuple):
    """A mean over cases, with its interval for new conversations."""

    mean: float | None
    ci_low: float | None
    ci_high: float | None


class ReachedByTries(NamedTuple):
    """What k tries of a case reach."""

    k: int
    one_right: Reduced
    all_right: Reduced
    n: int


@dataclass(frozen=True, slots=True)
class Repetitions:
    """``right_at``: the value from which a try counts as right."""

    metric: Metric
    right_at: float
    tries: list[Tries]
    rows: list[ReachedByTries]

    def right(self, case: Tries) -> int:
        """How many tries of the case are right."""
        if self.metric.direction == "higher":
            return sum(value >= self.right_at - EQUAL for value in case.values)
        return sum(value <= self.right_at + EQUAL for value in case.values)


def of_run(run: Run, metric: Metric) -> Repetitions:
    """A try is right that has the best value of the metric."""
    best = metric.upper if metric.direction == "higher" else metric.lower
    repeated = Repetitions(metric, best, _tries(run, metric), [])
    repeated.rows.extend(_row(repeated, k) for k in range(1, run.repetitions + 1))
    return repeated


def _tries(run: Run, metric: Metric) -> list[Tries]:
    rows = Score.objects.filter(
        case__run=run, metric=metric.id, metric_version=metric.version, value__isnull=False
    ).order_by("case")
    names = ("case__item", "case__part", "case__item__item_id", "case__part_id")
    by_case: dict[tuple[int, str], Tries] = {}
    for item, part, item_id, part_id, conversation, value in rows.values_list(
        *names, "case__item__conversation", "value"
    ):
        case_id = f"{item_id}:{part_id}" if part else item_id
        by_case.setdefault((item, part), Tries(case_id, conversation, [])).values.append(value)
    return list(by_case.values())


SHARE = Metric("share_of_tries", 1, frozenset(), "", "")


def _row(repeated: Repetitions, k: int) -> ReachedByTries:
    tries, right = repeated.tries, repeated.right
    return ReachedByTries(
        k=k,
        one_right=_mean(tries, [pass_at_k(len(case.values), right(case), k) for case in tries]),
        all_right=_mean(tries, [all_of_k(len(case.values), right(case), k) for case in tries]),
        n=sum(len(case.values) >= k for case in tries),
    )


def _mean(tries: Sequence[Tries], values: Sequence[float | None]) -> Reduced:
    """Over the cases, with the interval that every figure of a run has."""
    summary = summarize(
        SHARE,
        [Value(value, None if value is not None else TOO_FEW) for value in values],
        clusters=[case.conversation for case in tries],
        failed=[False] * len(tries),  # a failed try has the worst value already
    )
    return Reduced(summary.mean, summary.ci_low, summary.ci_high)
