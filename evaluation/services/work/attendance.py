"""Whether a worker is at a run, as far as its rows tell."""

from __future__ import annotations

from datetime import datetime, timedelta
from math import ceil
from typing import NamedTuple

from django.conf import settings
from django.db.models import Max

from evaluation.models import Answer, CaseRun, Judgement, Run, Work
from evaluation.services.work import leases
from labeling.services import clock

LATE = 0.4
"""Of a lease. It is renewed every third, so a living worker is never silent for longer."""

NOT_TAKEN_SECONDS = 60
"""A worker that lives looks for waiting runs more often than that, however busy it is."""

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
    """For how long no worker has reported, and when others may take over; 0: at once."""

    seconds: int
    left: int


def silence(run: Run) -> Silence | None:
    """None while somebody is at the run, or nothing is to be done. Needs ``with_progress()``."""
    if run.status not in OPEN:
        return None
    now = clock.now()
    end = _end_of_hold(run)
    if end is not None and end > now:
        lease = settings.CASE_LEASE_SECONDS
        left = (end - now).total_seconds()
        return _in_tens(lease - left, left) if lease - left > LATE * lease else None
    if run.status != Run.Status.SCORING and not _is_startable(run):
        return None
    since = max(moment for moment in (run.created_at, run.woken_at, end) if moment)
    waited = now - since
    if waited <= timedelta(seconds=NOT_TAKEN_SECONDS):
        return None
    return _in_tens(waited.total_seconds(), 0)


def _in_tens(seconds: float, left: float) -> Silence:
    """A page that polls should not be read out again every other second."""
    return Silence(int(seconds // 10) * 10, ceil(left / 10) * 10)


def _end_of_hold(run: Run) -> datetime | None:
    """When the last hold on any of its work ends or has ended."""
    work_of_run = [
        CaseRun.objects.filter(run=run),
        Answer.objects.filter(case__run=run),
        Judgement.objects.filter(judging__run=run),
    ]
    ends = [
        rows.filter(state=Work.State.RUNNING).aggregate(end=Max("lease_expires_at"))["end"]
        for rows in work_of_run
    ]
    return max((end for end in (*ends, run.scoring_expires_at) if end), default=None)


def _is_startable(run: Run) -> bool:
    """What failed a moment ago waits a little before it is tried again."""
    return Run.objects.filter(leases.startable_work(), pk=run.pk).exists()
