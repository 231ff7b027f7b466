"""What people have answered or skipped."""

from __future__ import annotations

from collections.abc import Collection

from django.db.models import QuerySet

from labeling.models import Annotation, Assignment, Conversation

FINISHED = [Annotation.Status.SUBMITTED, Annotation.Status.SKIPPED]


def answers_on(conversation: Conversation, rounds: Collection[int]) -> QuerySet[Assignment]:
    """In these rounds, by annotator, with everything that is shown of each."""
    return (
        Assignment.objects.labelling()
        .filter(round__in=rounds, conversation=conversation)
        .filter(annotation__status__in=FINISHED)
        .select_related("annotation__guideline", "annotator", "round")
        .defer("annotation__guideline__body", "round__agreement")
        .order_by("annotator__username")
    )
