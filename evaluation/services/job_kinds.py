"""The background work of evaluation, for the list of all work (``labeling.jobs.jobs``)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any

from django.db.models import F, Func, OuterRef, Subquery

from evaluation.models import (
    CaseRun,
    Run,
    Slot,
    Work,
)
from evaluation.models.runs import RunQuerySet
from evaluation.services.work import attendance, leases
from labeling.core import clock
from labeling.domain.facts import Fact
from labeling.jobs import jobs
from labeling.jobs.jobs import Failure, Job, Kind
from labeling.models import Event


def register() -> None:
    jobs.register(Kind("run", lambda: _jobs(Run.objects.all()), _failed_runs))


# --- runs -----------------------------------------------------------------------------------------


def waiting_since(run: Run) -> datetime | None:
    """Since when the run waits for a worker; None: it does not."""
    return next(
        (job.since for job in _jobs(Run.objects.filter(pk=run.pk)) if not job.is_at_work), None
    )


def _jobs(runs: RunQuerySet) -> Iterator[Job]:
    """Paused runs wait for a person, and what failed a moment ago for its next try."""
    now = clock.now()
    open_runs = runs.filter(scored_at=None, failure=None, cancelled=False, paused=False)
    rows: list[Any] = list(  # with columns that a run has only here
        attendance.with_holds(open_runs.with_progress())
        .select_related("release__project", "project")
        .defer("spec", "config", "release__header")
    )
    can_start = leases.startable_work() | leases.to_score()
    startable = set(
        Run.objects.filter(can_start, pk__in=[run.pk for run in rows]).values_list("pk", flat=True)
    )
    at = _slots(rows)
    for run in rows:
        until = attendance.held_until(run)
        is_held = bool(at[run.pk]) or (until is not None and until > now)
        since = max(filter(None, (run.created_at, run.woken_at, until)))
        if is_held:
            since = run.turn_at or run.woken_at or run.created_at
        yield Job(
            "run",
            run.pk,
            since,
            is_held or run.pk not in startable,
            run.of_project,
            f"{run.pk}: {run.name or run.pipeline}",
            run.get_absolute_url(),
            tuple(dict.fromkeys(name for name, _ in at[run.pk])),
            run.n_done + run.n_failed,
            run.n_cases,
        )


def _slots(runs: Sequence[Run]) -> dict[int, list[tuple[str, datetime]]]:
    """Who is at each run, and when they were last seen."""
    at: dict[int, list[tuple[str, datetime]]] = defaultdict(list)
    rows = Slot.objects.filter(run__in=runs).order_by("number")
    for run, worker, seen in rows.values_list("run", "worker", "worker__seen_at"):
        at[run].append((worker, seen))
    return at


def _failed_runs(since: datetime) -> Iterator[Failure]:
    """Runs that could not go on; and those with failed cases, by why the newest of these failed."""
    ended = Event.objects.filter(verb="run.failed", at__gt=since)
    at = dict(ended.order_by("pk").values_list("object_id", "at"))
    runs = Run.objects.filter(pk__in=[int(pk) for pk in at], failure__isnull=False)
    for run in runs.select_related("release__project", "project").order_by("-pk")[: jobs.FAILURES]:
        assert run.failure is not None
        yield _failure_of_run(run, at[str(run.pk)], run.failure)
    failed = CaseRun.objects.filter(run=OuterRef("pk"), state=Work.State.FAILED).order_by("-pk")
    recent = Run.objects.filter(created_at__gt=since, failure=None)
    rows = recent.annotate(
        n_failed=Subquery(
            failed.order_by().annotate(n=Func(F("pk"), function="COUNT")).values("n")
        ),
        failed_at=Subquery(failed.values("finished_at")[:1]),
        why=Subquery(failed.values("error")[:1]),
    ).filter(failed_at__isnull=False)
    for run in rows.select_related("release__project", "project").order_by("-pk")[: jobs.FAILURES]:
        reason = run.why if isinstance(run.why, Fact) else Fact("job.no_reason")
        why = Fact("job.cases_failed", n=run.n_failed, why=reason)
        yield _failure_of_run(run, run.failed_at, why)


def _failure_of_run(run: Run, at: datetime, why: Fact) -> Failure:
    title = f"{run.pk}: {run.name or run.pipeline}"
    return Failure("run", run.pk, at, why, run.of_project, title, run.get_absolute_url())
