"""Conversations of a project for a list."""

from __future__ import annotations

from typing import Any

from django.db.models import Count, OuterRef, QuerySet, Subquery
from django.db.models.functions import Coalesce

from labeling.models import Annotation, Assignment, Conversation
from labeling.services.searching import containing


def narrowed(
    rows: QuerySet[Conversation], *, search: str = "", stage: str = "", **equal: str
) -> QuerySet[Conversation]:
    """``search`` is a part of the id; an empty value narrows nothing."""
    if search.strip():
        rows = rows.filter(containing("external_id", search.strip()))
    if stage:
        rows = rows.filter(standing__stage=stage)
    return rows.filter(**{name: value for name, value in equal.items() if value})


def with_answers(rows: QuerySet[Conversation, Any]) -> QuerySet[Conversation, Any]:
    """``n_answers`` is counted per shown row, for joined answers would all be counted first."""
    submitted = Assignment.objects.labelling().filter(
        annotation__status=Annotation.Status.SUBMITTED
    )
    here = submitted.filter(conversation=OuterRef("pk")).order_by().values("conversation")
    counted = Subquery(here.annotate(n=Count("pk")).values("n"))
    return rows.annotate(n_answers=Coalesce(counted, 0))
