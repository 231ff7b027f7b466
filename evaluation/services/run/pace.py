"""How fast a run goes: read from its rows alone."""

from __future__ import annotations

from datetime import timedelta

from evaluation.models import CaseRun, Run
from labeling.core import clock

LOOKED_AT = 20
"""The newest cases that have ended tell the pace, so that it follows a change of workers."""
WITHIN = timedelta(minutes=30)
"""Older ones are of another time: before all workers were gone."""
ENOUGH = 3


def per_second(run: Run) -> float | None:
    """Cases a second; ``None`` until enough have ended.

    What ended before the run was resumed is left out, and the pause with it.
    """
    now = clock.now()
    since = max(now - WITHIN, run.woken_at) if run.woken_at else now - WITHIN
    recent = CaseRun.objects.filter(run=run, finished_at__gt=since).order_by("-finished_at")
    times = [at for (at,) in recent.values_list("finished_at")[:LOOKED_AT] if at is not None]
    span = (now - times[-1]).total_seconds() if len(times) >= ENOUGH else 0.0
    return (len(times) - 1) / span if span > 0 else None
