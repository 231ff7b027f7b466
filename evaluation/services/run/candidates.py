"""Runs that could be chosen for their figure: one meaning for lists, comparisons and reports."""

from __future__ import annotations

from evaluation.models import Run
from evaluation.models.runs import RunQuerySet, number_of_cases
from pipelines.registry import FLOORS


def among(runs: RunQuerySet) -> RunQuerySet:
    """The finished ones of these runs, floors left out, with ``n_first``, their number of cases.

    They compete where gold, split and that number are the same.
    """
    finished = runs.filter(scored_at__isnull=False, failure=None)
    return finished.exclude(pipeline__in=FLOORS).annotate(n_first=number_of_cases("pk"))


def count(run: Run, baseline: Run | None = None) -> int:
    """How many runs on the cases of this one could be chosen for their figure.

    This one counts in any case, the baseline does not: it is what the others are compared with.
    """
    others = among(Run.objects.beside(run))
    if baseline is not None:
        others = others.exclude(pk=baseline.pk)
    return 1 + others.count()
