"""What a monitoring system reads of runs (``labeling.operation.metrics``)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

from django.db.models import Count, QuerySet

from evaluation.models import CaseRun, Run
from labeling.operation import metrics
from labeling.operation.metrics import Sample


def register() -> None:
    metrics.register(_of_runs)


def _of_runs() -> Iterator[Sample]:
    """Every state, also those that no run is in: a figure that comes and goes makes no line."""
    runs: QuerySet[Any] = Run.objects.with_state().order_by()  # "state" is computed
    states = Counter(runs.values_list("state", flat=True))
    for state in Run.Status.values:
        yield Sample("assay_runs", states[state], {"state": state})
    cases = dict(CaseRun.objects.order_by().values_list("state").annotate(n=Count("pk")))
    for state in CaseRun.State.values:
        yield Sample("assay_cases", cases.get(state, 0), {"state": state})
