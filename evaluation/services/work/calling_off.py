"""Giving up what is left to do of a run, so that what is there can be scored."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from django.db.models import QuerySet
from django.db.models.functions import Now
from django.utils import timezone

from evaluation.models import Answer, CaseRun, Judgement, Judging, Run, Work
from labeling.domain.facts import Fact
from labeling.models import Event

CALLED_OFF = Fact("answer.called_off")
"""Of answers that a retry leaves alone: the judging that they were for is called off, too."""
GIVEN_UP = Fact("work.retry_called_off")
JUDGED_LATER = Fact("judgement.judged_later")


def call_off(run: Run) -> bool:
    """Give up what is not written or judged yet; True if there was anything.

    A judging that has counted before keeps what it has: only a new one is called off as a whole.
    """
    left = Answer.objects.wanted().filter(case__run=run)
    wanted = Judgement.objects.wanted().filter(judging__run=run)
    judgings = set(wanted.values_list("judging", flat=True))
    if not judgings and not left.exists():
        return False
    finished_at = _finished_at(run)
    unseen = Judging.objects.filter(pk__in=judgings)
    (unseen.filter(created_at__gt=finished_at) if finished_at else unseen).update(cancelled=True)
    _give_up(wanted, GIVEN_UP)
    if finished_at is None:  # of failed cases, too: tried again, they are not judged any more
        _give_up(Answer.objects.unfinished().filter(case__run=run), CALLED_OFF)
    else:
        _give_up(left, GIVEN_UP)
    return True


def give_up_cases(run: Run) -> int:
    """What was to be tried again has failed as it had before."""
    rows = list(run.cases.unfinished().defer("output", "usage").select_for_update(of=("self",)))
    for row in rows:
        *row.earlier_failures, last = row.earlier_failures or [{}]
        row.state = Work.State.FAILED
        row.owner = row.lease_expires_at = None
        row.error = Fact.from_json(last["error"]) if last.get("error") else GIVEN_UP
        row.error_class = last.get("error_class", CaseRun.ErrorClass.PERMANENT)
        row.attempts = last.get("attempts", row.attempts)
        at = last.get("at")
        row.finished_at = datetime.fromisoformat(at) if at else timezone.now()
    restored = ["state", "owner", "lease_expires_at", "error", "error_class", "attempts"]
    fields = [*restored, "finished_at", "earlier_failures"]
    CaseRun.objects.bulk_update(rows, fields, batch_size=500)
    return len(rows)


def close_earlier(run: Run, newest: Judging | None) -> None:
    """Only the newest judging goes on: what others have not judged they never will.

    They would be asked for again of cases that had failed, perhaps by a judge that is gone.
    """
    open_judgings = Judging.objects.filter(run=run, cancelled=False)
    earlier = open_judgings.filter(pk__lt=newest.pk) if newest else open_judgings
    _give_up(Judgement.objects.unfinished().filter(judging__in=earlier), JUDGED_LATER)


def _finished_at(run: Run) -> datetime | None:
    """When the figures that the run has were stored."""
    if run.first_scored_at is None:
        return None
    ends = Event.objects.filter(
        project=run.of_project,
        verb="run.finished",
        object_type="run",
        object_id=str(run.pk),
    )
    last = ends.order_by("-pk").values_list("at", flat=True).first()
    return max(last, run.first_scored_at) if last else run.first_scored_at


def _give_up(rows: QuerySet[Any], why: Fact) -> None:
    rows.update(
        state=Work.State.FAILED,
        error=why,
        error_class=Work.ErrorClass.PERMANENT,
        owner=None,
        lease_expires_at=None,
        finished_at=Now(),
    )
