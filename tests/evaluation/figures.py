"""What a run came to: by metric, over all its cases and in one of them."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from evaluation.metrics.comparison import Comparison
from evaluation.models import Aggregate, Run
from evaluation.services.run import results


def mean(run: Run, metric: str) -> float | None:
    return aggregate(run, metric).mean


def aggregate(run: Run, metric: str) -> Aggregate:
    return next(row for row in results.aggregates_of(run) if row.metric == metric)


def value(run: Run, case_id: str, metric: str) -> float | None:
    case = next(score for score in results.cases_with_scores(run) if score.case_id == case_id)
    return next(score.value for score in case.scores.all() if score.metric == metric)


def compared(**known: Any) -> Comparison:
    """What is not said is undefined, and no case is counted."""
    counts = ("n", "n_undefined", "n_before", "n_after", "conversations", "wins", "losses", "ties")
    unknown = {field.name: None for field in fields(Comparison)}
    return Comparison(**unknown | dict.fromkeys(counts, 0) | known)
