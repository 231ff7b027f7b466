"""On how many cases of a run its weights have read the conversation before."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, TypedDict, cast

from django.db.models import Count

from evaluation.models import CaseRun
from labeling.domain.facts import Fact

Level = Literal["seen", "left_out", "unseen", "unknown"]


class Exposures(TypedDict):
    """Cases by what the weights had to do with their conversation.

    ``unknown``: not worked on yet, or predicted elsewhere, or before this was written down.
    """

    seen: int
    left_out: int
    unseen: int
    unknown: int


def of_runs(runs: Iterable[int]) -> dict[int, Exposures]:
    counted = {run: Exposures(seen=0, left_out=0, unseen=0, unknown=0) for run in runs}
    # grouped as the index "case_counted" is sorted, so that no case itself is read
    fields = ("run", "state", "error_class", "exposure")
    rows = CaseRun.objects.filter(run__in=counted).order_by().values_list(*fields)
    for run, _state, _error, exposure, number in rows.annotate(number=Count("pk")):
        counted[run][cast(Level, exposure or "unknown")] += number
    return counted


def of_run(run: int) -> Exposures:
    return of_runs([run])[run]


def warning(counts: Exposures, *, run: int | None = None) -> Fact | None:
    """What to think of figures that rest on conversations that were trained on."""
    if not counts["seen"]:
        return None
    cases = sum((counts["seen"], counts["left_out"], counts["unseen"], counts["unknown"]))
    if run is None:
        return Fact("exposure.seen", seen=counts["seen"], cases=cases)
    return Fact("exposure.run_seen", run=run, seen=counts["seen"], cases=cases)
