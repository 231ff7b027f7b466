"""How fast a run goes, and what it is at: read from its rows alone."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

from evaluation.models import CaseRun, Run
from labeling.core import clock

LOOKED_AT = 20
"""The newest cases that have ended tell the pace, so that it follows a change of workers."""
WITHIN = timedelta(minutes=30)
"""Older ones are of another time: before all workers were gone."""
ENOUGH = 3
SHOWN = 8  # of the cases in work
IN_WORK = 100
"""More are never in work at the same time."""


@dataclass(frozen=True, slots=True)
class Pace:
    """``per_second`` and ``seconds_left`` are ``None`` until enough cases have ended."""

    per_second: float | None
    seconds_left: float | None
    running: list[CaseRun]


def pace_of(run: Run, *, left: int) -> Pace:
    """Two queries, however many cases there are.

    What ended before the run was resumed is left out, and the pause with it.
    """
    now = clock.now()
    since = max(now - WITHIN, run.woken_at) if run.woken_at else now - WITHIN
    cases = CaseRun.objects.filter(run=run)
    recent = cases.filter(finished_at__gt=since).order_by("-finished_at")
    times = [at for (at,) in recent.values_list("finished_at")[:LOOKED_AT] if at is not None]
    per_second = None
    if len(times) >= ENOUGH:
        span = (now - times[-1]).total_seconds()
        per_second = (len(times) - 1) / span if span > 0 else None
    in_work = cases.filter(state=CaseRun.State.RUNNING).select_related("item", "talk")
    in_work = in_work.order_by("lease_expires_at", "pk")  # of an index: by number they are searched
    running = in_work.defer("output", "usage", "item__canonical", "talk__text")
    return Pace(
        per_second=per_second,
        seconds_left=left / per_second if per_second else None,
        running=sorted(running[:IN_WORK], key=lambda case: case.pk)[:SHOWN],
    )
