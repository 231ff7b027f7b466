"""What lists and pages of conversations show."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from django.db.models import Count, OuterRef, QuerySet, Subquery
from django.db.models.functions import Coalesce

from labeling.core.searching import containing
from labeling.models import Annotation, Assignment, Conversation
from labeling.work.stages import with_stage

FINISHED = [Annotation.Status.SUBMITTED, Annotation.Status.SKIPPED]


def narrowed(
    rows: QuerySet[Conversation], *, search: str = "", stage: str = "", **equal: str
) -> QuerySet[Conversation]:
    """``search`` is a part of the id; an empty value narrows nothing."""
    if search.strip():
        rows = rows.filter(containing("external_id", search.strip()))
    if stage:
        rows = with_stage(rows).filter(stage=stage)
    return rows.filter(**{name: value for name, value in equal.items() if value})


def with_answers(rows: QuerySet[Conversation, Any]) -> QuerySet[Conversation, Any]:
    """``n_answers`` is counted per shown row, for joined answers would all be counted first."""
    submitted = Assignment.objects.filter(annotation__status=Annotation.Status.SUBMITTED)
    here = submitted.filter(conversation=OuterRef("pk")).order_by().values("conversation")
    counted = Subquery(here.annotate(n=Count("pk")).values("n"))
    return rows.annotate(n_answers=Coalesce(counted, 0))


def answers_on(conversation: Conversation, rounds: Collection[int]) -> QuerySet[Assignment]:
    """Submitted or skipped in these rounds, by annotator, with everything that is shown of each."""
    return (
        Assignment.objects.filter(
            round__in=rounds, conversation=conversation, annotation__status__in=FINISHED
        )
        .select_related("annotation__guideline", "annotator", "round")
        .defer("annotation__guideline__body", "round__agreement")
        .order_by("annotator__username")
    )
