"""Whether a worker is at a run, as far as its rows tell."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from django.db.models import F, Func, OuterRef, QuerySet, Subquery

from evaluation.models import Answer, CaseRun, Judgement, Run, Work
from evaluation.models.runs import RunQuerySet

OPEN = frozenset(
    {
        Run.Status.QUEUED,
        Run.Status.RUNNING,
        Run.Status.ANSWERING,
        Run.Status.JUDGING,
        Run.Status.SCORING,
    }
)


def with_holds(runs: RunQuerySet) -> QuerySet[Any]:
    """Adds what ``held_until`` needs."""
    return runs.annotate(
        case_until=last_lease(CaseRun.objects.filter(run=OuterRef("pk"))),
        answer_until=last_lease(Answer.objects.filter(case__run=OuterRef("pk"))),
        judgement_until=last_lease(Judgement.objects.filter(judging__run=OuterRef("pk"))),
    )


def last_lease(rows: QuerySet[Any]) -> Subquery:
    held = rows.filter(state=Work.State.RUNNING).order_by()
    return Subquery(held.annotate(end=Func(F("lease_expires_at"), function="MAX")).values("end"))


def held_until(run: Any) -> datetime | None:
    """When the last hold on any of its work ends or has ended. Needs ``with_holds()``."""
    ends = (run.case_until, run.answer_until, run.judgement_until, run.scoring_expires_at)
    return max(filter(None, ends), default=None)
