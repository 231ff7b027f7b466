"""The cases of a run next to those of a baseline: which became worse, which better, and of what."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from evaluation.metrics.comparison import TOLERANCE
from evaluation.metrics.metric import Metric
from evaluation.models import CaseRun, Run
from evaluation.services.run.comparisons import (
    CaseKey,
    case_values,
)

Outcome = Literal["regression", "improvement", "tie", "undefined"]
OUTCOMES: tuple[Outcome, ...] = ("regression", "improvement", "tie", "undefined")
"""In the order of the table: what became worse is looked at first."""


@dataclass(frozen=True, slots=True)
class ComparedCase:
    """One case of both runs; a value is the mean of its repetitions, ``None`` is undefined."""

    pk: int
    """Of the run's case, in its first repetition."""
    case_id: str
    before: float | None
    after: float | None
    failed_before: bool
    failed_after: bool
    outcome: Outcome

    @property
    def change(self) -> float | None:
        if self.before is None or self.after is None:
            return None
        return self.after - self.before


def compared_cases(baseline: Run, run: Run, metric: Metric) -> list[ComparedCase]:
    """The cases of both runs, the largest loss first, then gains, ties, and what is undefined."""
    before, after = case_values(baseline, metric), case_values(run, metric)
    named, failed_before, failed_after = _named(run), _failed(baseline), _failed(run)
    rows = [
        ComparedCase(
            *named[key],
            before[key],
            after[key],
            key in failed_before,
            key in failed_after,
            _outcome(before[key], after[key], metric),
        )
        for key in after
        if key in before
    ]
    rows.sort(key=lambda row: (OUTCOMES.index(row.outcome), -abs(row.change or 0.0), row.pk))
    return rows


def _named(run: Run) -> dict[CaseKey, tuple[int, str]]:
    """Each case by its first repetition: number and name."""
    named: dict[CaseKey, tuple[int, str]] = {}
    rows = CaseRun.objects.filter(run=run).order_by("pk")
    fields = ("item", "part", "pk", "part_id", "item__item_id")
    for item, part, pk, part_id, item_id in rows.values_list(*fields):
        named.setdefault((item, part), (pk, f"{item_id}:{part_id}" if part else item_id))
    return named


def _failed(run: Run) -> set[CaseKey]:
    """The cases of which any repetition did."""
    failed = CaseRun.objects.filter(run=run, state=CaseRun.State.FAILED).order_by()
    return {(item, part) for item, part in failed.values_list("item_id", "part")}


def _outcome(before: float | None, after: float | None, metric: Metric) -> Outcome:
    if before is None or after is None:
        return "undefined"
    gain = after - before if metric.direction == "higher" else before - after
    if abs(gain) <= TOLERANCE:
        return "tie"
    return "improvement" if gain > 0 else "regression"
