"""Agreement of what people submitted, for one round."""

from __future__ import annotations

from collections import defaultdict
from typing import Literal, cast

from django.db.models import Count, QuerySet

from labeling.domain.agreement import Agreement, marked_messages
from labeling.domain.agreement import agreement as compute
from labeling.models import Annotation, Assignment, Round

Ratings = dict[str, dict[str, list[int]]]


def of_round(measured: Round) -> Agreement:
    """Message-level agreement of a round (METRICS section 1: a message is cited or not)."""
    project = measured.project
    return compute(
        ratings(measured),
        threshold=project.kappa_threshold,
        statistic=cast(Literal["min", "mean"], project.kappa_statistic),
        seed=measured.seed,
        excluded=_excluded(measured),
    )


def ratings(measured: Round) -> Ratings:
    """By annotator and conversation: 1 for each message that a requirement cites, else 0."""
    found: Ratings = defaultdict(dict)
    submitted = (
        _rows(measured)
        .filter(annotation__status=Annotation.Status.SUBMITTED)
        .annotate(n_messages=Count("conversation__messages"))
        .values_list(
            "annotator__username",
            "conversation__external_id",
            "annotation__payload",
            "n_messages",
        )
    )
    for annotator, conversation, payload, n_messages in submitted:
        found[annotator][conversation] = marked_messages(payload, n_messages)
    return dict(found)


def _excluded(measured: Round) -> dict[str, dict[str, str]]:
    """Why an assignment does not count: skipped with a reason, or not finished."""
    found: dict[str, dict[str, str]] = defaultdict(dict)
    open_or_skipped = (
        _rows(measured)
        .exclude(annotation__status=Annotation.Status.SUBMITTED)
        .values_list("annotator__username", "conversation__external_id", "annotation__skip_reason")
    )
    for annotator, conversation, skip_reason in open_or_skipped:
        reason = f"skipped: {skip_reason}" if skip_reason else "not submitted"
        found[annotator][conversation] = reason
    return dict(found)


def _rows(measured: Round) -> QuerySet[Assignment]:
    return measured.assignments.order_by("annotator__username", "conversation__external_id")
