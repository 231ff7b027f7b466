"""What several tries of each case say: the tab of runs with repetitions."""

from __future__ import annotations

from math import isfinite
from statistics import fmean
from typing import Any

from django.http import HttpRequest

from evaluation.metrics.metric import Metric
from evaluation.models import Run
from evaluation.services.run import repetitions
from evaluation.services.run.repetitions import Repetitions, Tries
from evaluation.templatetags import present

MOST_CASES = 25


def repetitions_of(request: HttpRequest, run: Run, primary: Metric) -> dict[str, Any]:
    at = _threshold(request.GET.get("at", ""))
    repeated = repetitions.of_run(run, primary, right_at=at)
    return {
        "primary": primary,
        "at": present.exact(repeated.right_at),
        "rows": repeated.rows,
        "uneven": _uneven(repeated),
        "most_cases": MOST_CASES,
    }


def _threshold(text: str) -> float | None:
    try:
        number = float(text.replace(",", "."))
    except ValueError:
        return None
    return number if isfinite(number) else None


def _uneven(repeated: Repetitions) -> list[tuple[Tries, float, float, float, int]]:
    """Those whose tries are furthest apart: with mean, best, worst, and how many are right."""
    apart = [
        case for case in repeated.tries if max(case.values) - min(case.values) > repetitions.EQUAL
    ]
    apart.sort(key=lambda case: min(case.values) - max(case.values))
    best, worst = (max, min) if repeated.metric.direction == "higher" else (min, max)
    return [
        (case, fmean(case.values), best(case.values), worst(case.values), repeated.right(case))
        for case in apart[:MOST_CASES]
    ]
