"""How far conversations are, as their work says it."""

from __future__ import annotations

from typing import Any

from django.db.models import Case, CharField, Count, Exists, F, OuterRef, QuerySet, Value, When

from labeling.models import Adjudication, Assignment, Conversation, Merge, RoundConversation
from labeling.work.models.assignments import ANSWERED

Stage = Conversation.Stage


def with_stage(rows: QuerySet[Conversation, Any]) -> QuerySet[Any, Any]:
    """Adds ``stage``: the last one that each has reached. Gold, which releases know, is none."""
    here = {"conversation": OuterRef("pk")}
    begun = Assignment.objects.filter(**here, annotation__isnull=False)
    reached = {
        Stage.DECIDED: Exists(Adjudication.objects.filter(**here)),
        Stage.DISPUTED: Exists(Merge.objects.filter(**here, state="disputed")),
        Stage.LABELED: is_complete(),
        Stage.BEGUN: Exists(begun),
        Stage.WAITING: Exists(RoundConversation.objects.filter(**here)),
    }
    whens = [When(condition, then=Value(str(stage))) for stage, condition in reached.items()]
    return rows.annotate(
        stage=Case(*whens, default=Value(str(Stage.UNPLANNED)), output_field=CharField())
    )


def is_complete() -> Exists:
    """Whether a conversation has all the answers wanted in some round."""
    work = Assignment.objects.filter(conversation=OuterRef("pk")).order_by()
    answers = work.values("round").annotate(n=Count("pk", filter=ANSWERED))
    return Exists(answers.filter(n__gte=F("round__overlap")))
