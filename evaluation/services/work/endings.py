"""How runs end, on record: the event is in the transaction that ends the run, so it is there once.

A worker that dies before has changed nothing; one that comes later finds the run ended.
"""

from __future__ import annotations

from uuid import UUID

from django.db import transaction

from evaluation.models import Run
from evaluation.services import digests
from labeling.core import events, planner
from labeling.domain.facts import Fact


def finished(run: Run) -> None:
    """The caller has stored the figures in this transaction. Scoring again finishes it again.

    A run without gold has none that could be held against it later, and it goes when it expires.
    """
    figures = {"sha256": digests.of_run(run)} if run.is_measured else {}
    events.record("run.finished", run, project=run.of_project, **figures)
    transaction.on_commit(planner.count, robust=True)


@transaction.atomic
def fail(run_id: int, problem: Fact, *, scorer: UUID | None = None) -> None:
    """Unless it has ended before; with ``scorer`` only while this worker holds its scoring."""
    runs = Run.objects.filter(pk=run_id, failure=None, scored_at=None, cancelled=False)
    released = {}
    if scorer is not None:
        runs = runs.filter(scoring_owner=scorer)
        released = {"scoring_owner": None, "scoring_expires_at": None}
    if runs.update(failure=problem, **released):
        run = Run.objects.select_related("release__project", "project").get(pk=run_id)
        events.record("run.failed", run, project=run.of_project)
