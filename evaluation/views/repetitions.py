"""What several tries of each case say: the tab of runs with repetitions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from math import isfinite
from typing import Any, NamedTuple

from django.http import HttpRequest

from evaluation.metrics.metric import Metric, Value
from evaluation.metrics.repetitions import all_of_k, highest_of_k, lowest_of_k, pass_at_k
from evaluation.metrics.summary import summarize
from evaluation.models import Run, Score
from evaluation.views import present
from labeling.domain.facts import Fact

MOST_CASES = 25
EQUAL = 1e-9
TOO_FEW = Fact("repetition.too_few")


class Tries(NamedTuple):
    """The defined values of one case, of all repetitions."""

    case_id: str
    conversation: int
    values: list[float]


class TriesRow(NamedTuple):
    """What k tries reach, each with its interval for new conversations."""

    k: int
    best: str
    worst: str
    one_right: str
    all_right: str
    n: int


class UnevenCase(NamedTuple):
    """A case whose tries differ."""

    case_id: str
    mean: str
    best: str
    worst: str
    right: int
    n: int


def repetitions_of(request: HttpRequest, run: Run, primary: Metric) -> dict[str, Any]:
    """Read from the stored scores: nothing is measured, and nothing is kept."""
    best = primary.upper if primary.direction == "higher" else primary.lower
    at = _threshold(request.GET.get("at", ""), best)
    tries = _tries(run, primary)
    return {
        "primary": primary,
        "at": present.exact(at),
        "rows": [_row(tries, k, primary, at) for k in range(1, run.repetitions + 1)],
        "uneven": _uneven(tries, primary, at),
        "most_cases": MOST_CASES,
    }


def _threshold(text: str, default: float) -> float:
    try:
        number = float(text.replace(",", "."))
    except ValueError:
        return default
    return number if isfinite(number) else default


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


def _right(case: Tries, metric: Metric, at: float) -> int:
    if metric.direction == "higher":
        return sum(value >= at - EQUAL for value in case.values)
    return sum(value <= at + EQUAL for value in case.values)


def _row(tries: Sequence[Tries], k: int, metric: Metric, at: float) -> TriesRow:
    best, worst = highest_of_k, lowest_of_k
    if metric.direction == "lower":
        best, worst = worst, best
    scale = replace(metric, scope="case", compute=None)
    share = Metric("share_of_tries", 1, frozenset(), "", "")

    def of(reduced: Callable[[Tries], float | None], on: Metric) -> str:
        return _mean(tries, reduced, on)

    return TriesRow(
        k=k,
        best=of(lambda case: best(case.values, k), scale),
        worst=of(lambda case: worst(case.values, k), scale),
        one_right=of(lambda case: pass_at_k(len(case.values), _right(case, metric, at), k), share),
        all_right=of(lambda case: all_of_k(len(case.values), _right(case, metric, at), k), share),
        n=sum(len(case.values) >= k for case in tries),
    )


def _mean(tries: Sequence[Tries], reduced: Callable[[Tries], float | None], metric: Metric) -> str:
    """Over the cases, with the interval that every figure of a run has."""
    values = [reduced(case) for case in tries]
    summary = summarize(
        metric,
        [Value(value, None if value is not None else TOO_FEW) for value in values],
        clusters=[case.conversation for case in tries],
        failed=[False] * len(tries),  # a failed try has the worst value already
    )
    ends = present.between(summary.ci_low, summary.ci_high)
    shown = present.figure(summary.mean)
    return shown if ends == "–" else f"{shown} [{ends}]"


def _uneven(tries: Sequence[Tries], metric: Metric, at: float) -> list[UnevenCase]:
    """Those whose tries are furthest apart."""
    apart = [case for case in tries if max(case.values) - min(case.values) > EQUAL]
    apart.sort(key=lambda case: min(case.values) - max(case.values))
    ends = (max, min) if metric.direction == "higher" else (min, max)
    return [
        UnevenCase(
            case_id=case.case_id,
            mean=present.figure(sum(case.values) / len(case.values)),
            best=present.figure(ends[0](case.values)),
            worst=present.figure(ends[1](case.values)),
            right=_right(case, metric, at),
            n=len(case.values),
        )
        for case in apart[:MOST_CASES]
    ]
