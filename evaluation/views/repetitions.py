"""What several tries of each case say: the tab of runs with repetitions."""

from __future__ import annotations

from math import isfinite
from typing import Any, NamedTuple

from django.http import HttpRequest

from evaluation.metrics.metric import Metric
from evaluation.models import Run
from evaluation.services.run import repetitions
from evaluation.services.run.repetitions import Repetitions
from evaluation.views import present

MOST_CASES = 25


class UnevenCase(NamedTuple):
    """A case whose tries differ."""

    case_id: str
    mean: str
    best: str
    worst: str
    right: int
    n: int


def repetitions_of(request: HttpRequest, run: Run, primary: Metric) -> dict[str, Any]:
    at = _threshold(request.GET.get("at", ""))
    repeated = repetitions.of_run(run, primary, right_at=at)
    return {
        "primary": primary,
        "at": present.exact(repeated.right_at),
        "rows": present.reached_by_tries(repeated),
        "uneven": _uneven(repeated),
        "most_cases": MOST_CASES,
    }


def _threshold(text: str) -> float | None:
    try:
        number = float(text.replace(",", "."))
    except ValueError:
        return None
    return number if isfinite(number) else None


def _uneven(repeated: Repetitions) -> list[UnevenCase]:
    """Those whose tries are furthest apart."""
    apart = [
        case for case in repeated.tries if max(case.values) - min(case.values) > repetitions.EQUAL
    ]
    apart.sort(key=lambda case: min(case.values) - max(case.values))
    ends = (max, min) if repeated.metric.direction == "higher" else (min, max)
    return [
        UnevenCase(
            case_id=case.case_id,
            mean=present.figure(sum(case.values) / len(case.values)),
            best=present.figure(ends[0](case.values)),
            worst=present.figure(ends[1](case.values)),
            right=repeated.right(case),
            n=len(case.values),
        )
        for case in apart[:MOST_CASES]
    ]
