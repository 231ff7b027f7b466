"""What a run came to: by metric, over all its cases and in one of them."""

from __future__ import annotations

from evaluation.models import Aggregate, Run
from evaluation.services.run import results


def mean(run: Run, metric: str) -> float | None:
    return aggregate(run, metric).mean


def aggregate(run: Run, metric: str) -> Aggregate:
    return next(row for row in results.aggregates_of(run) if row.metric == metric)


def value(run: Run, case_id: str, metric: str) -> float | None:
    case = next(score for score in results.cases_with_scores(run) if score.case_id == case_id)
    return next(score.value for score in case.scores.all() if score.metric == metric)
