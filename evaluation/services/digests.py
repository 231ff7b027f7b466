"""One hash over what a run put out and its figures: the audit log has it, so a change shows."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from typing import Any

from evaluation.models import Aggregate, CaseRun, Run, Score
from labeling.core import audit
from labeling.core.rules.audit import written
from labeling.domain.facts import Fact
from labeling.gold import held
from labeling.models import Event, Project

CASE = ("pk", "item__item_id", "part", "repetition", "state", "output")
SCORE = ("case", "metric", "metric_version", "value", "numerator", "weight")
FIGURE = (
    *("metric", "metric_version", "mean", "median", "std", "min", "max"),
    *("ci_low", "ci_high", "n", "n_undefined", "n_failed"),
)
STORING = ("run.finished", "run.figures_stored")


def register() -> None:
    held.CHECKS.append(changed)


def of_run(run: Run) -> str:
    digest = hashlib.sha256()
    for row in _rows(run):
        digest.update(written(list(row)).encode() + b"\n")
    return digest.hexdigest()


def changed(project: Project) -> Iterator[Fact]:
    """The finished runs that are not as the newest event about their figures says."""
    events = Event.objects.filter(project=project, verb__in=STORING, data__has_key="sha256")
    newest = audit.latest(events)
    runs = Run.objects.filter(release__project=project, pk__in=newest).order_by("pk")
    gone = set(newest)
    for run in runs:
        event = newest[str(run.pk)]
        gone.discard(str(run.pk))
        if run.scored_at is not None and of_run(run) != event.data["sha256"]:
            yield Fact("held.run_changed", run=run.pk, event=event.pk)
    for name in sorted(gone, key=int):
        yield Fact("held.run_gone", run=int(name), event=newest[name].pk)


def _rows(run: Run) -> Iterator[tuple[Any, ...]]:
    cases = CaseRun.objects.filter(run=run).order_by("pk")
    yield from cases.values_list(*CASE).iterator(chunk_size=500)
    scores = Score.objects.filter(case__run=run).order_by("case", "metric", "metric_version")
    yield from scores.values_list(*SCORE).iterator(chunk_size=2_000)
    figures = Aggregate.objects.filter(run=run).order_by("metric", "metric_version")
    yield from figures.values_list(*FIGURE)
