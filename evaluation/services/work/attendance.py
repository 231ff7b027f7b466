"""Whether a worker is at a run, as far as its rows tell."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any, NamedTuple

from django.conf import settings
from django.db.models import F, Func, OuterRef, QuerySet, Subquery

from evaluation.models import Answer, CaseRun, Judgement, Judging, Run, Work
from evaluation.models.runs import RunQuerySet
from evaluation.services.work import leases
from labeling.core import clock

LATE = 0.4
"""Of a lease. It is renewed every third, so a living worker is never silent for longer."""

NOT_TAKEN = timedelta(seconds=60)
"""A worker that lives looks for waiting runs more often than that, however busy it is."""

TEN_SECONDS = timedelta(seconds=10)

OPEN = frozenset(
    {
        Run.Status.QUEUED,
        Run.Status.RUNNING,
        Run.Status.ANSWERING,
        Run.Status.JUDGING,
        Run.Status.SCORING,
    }
)


class Silence(NamedTuple):
    """For how many seconds no worker has reported; ``asks``: the model without which none takes
    the run up."""

    seconds: int
    asks: str = ""


def silence(run: Run) -> Silence | None:
    """None while somebody is at the run, or nothing is to be done. Needs ``with_progress()``."""
    now = clock.now()
    if run.status not in OPEN or (run.command_until and run.command_until > now):
        return None
    end = held_until(with_holds(Run.objects.filter(pk=run.pk)).only("scoring_expires_at").get())
    lease, patience = timedelta(seconds=settings.CASE_LEASE_SECONDS), NOT_TAKEN
    if end is not None and end > now:
        since, patience = end - lease, LATE * lease
    elif run.status != Run.Status.SCORING and not _is_startable(run):
        return None
    else:
        since = max(moment for moment in (run.created_at, run.woken_at, end) if moment)
    waited = (now - since) // TEN_SECONDS * 10  # who polls is not told every other second
    return Silence(waited, _model_of(run)) if now - since > patience else None


def _model_of(run: Run) -> str:
    """The one that what is next to do asks; empty: none."""
    if run.status == Run.Status.SCORING:
        return ""
    if run.status != Run.Status.JUDGING:
        return run.spec.model_id
    judgings = Judging.objects.filter(run=run, cancelled=False).order_by("-pk")
    return judgings.values_list("model", flat=True).first() or ""


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


def _is_startable(run: Run) -> bool:
    """What failed a moment ago waits a little before it is tried again."""
    return Run.objects.filter(leases.startable_work(), pk=run.pk).exists()
