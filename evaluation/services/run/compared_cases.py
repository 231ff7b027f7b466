"""The cases of a run next to those of a baseline: which became worse, which better, and of what."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from django.db.models import Q

from evaluation.layers import Example, GoldLayer, gold_layer
from evaluation.layers.breakdown import NO_VALUE, tables_in
from evaluation.metrics.comparison import TOLERANCE, Comparison
from evaluation.metrics.metric import Metric
from evaluation.metrics.yardsticks import ONE_CONVERSATION
from evaluation.models import Aggregate, CaseRun, Run
from evaluation.services.run.comparisons import (
    CaseKey,
    Pair,
    case_values,
    compare_pairs,
    pairs_of,
)
from labeling.domain.facts import Fact
from labeling.models import GoldItem

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


@dataclass(frozen=True, slots=True)
class ComparedSlice:
    """One group of cases of both runs: a row of a table by difficulty, domain, category."""

    title: str
    group: str
    comparison: Comparison

    @property
    def reason(self) -> Fact | None:
        """Why there is no difference, or no interval."""
        if self.comparison.difference is None:
            return NO_VALUE
        return ONE_CONVERSATION if self.comparison.ci_low is None else None


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


def slices_of(run: Run) -> dict[str, list[str]]:
    """By what the run's own page breaks its figure down: the groups of each table of cases."""
    stored = Q(detail__has_key="breakdowns") | Q(detail__has_key="by_category")
    known: dict[str, list[str]] = {}
    for detail in Aggregate.objects.filter(stored, run=run).values_list("detail", flat=True):
        for table in tables_in(detail):
            if table["unit"] == "Cases":
                known.setdefault(table["title"], [row["group"] for row in table["rows"]])
    return known


def compared_slices(baseline: Run, run: Run, metric: Metric) -> list[ComparedSlice]:
    """The difference in each group of cases that the run's own page knows, paired as over all.

    They explain and decide nothing: no p value or interval is corrected for how many there are.
    """
    pairs = pairs_of(baseline, run, metric)
    groups: dict[tuple[str, str], list[Pair]] = {
        (title, group): [] for title, known in slices_of(run).items() for group in known
    }
    for key, own in _slices(list(pairs), gold_layer(run.spec.layer)).items():
        for place in own.items():
            if place in groups:
                groups[place].append(pairs[key])
    return [
        ComparedSlice(title, group, compare_pairs(own, metric))
        for (title, group), own in groups.items()
    ]


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


def _slices(keys: list[CaseKey], layer: GoldLayer) -> dict[CaseKey, dict[str, str]]:
    """The group of each case in each table of the run's page."""
    items = GoldItem.objects.only("canonical").in_bulk({item for item, _ in keys})
    contents = {pk: item.content for pk, item in items.items()}
    return {
        (item, part): layer.slices(Example(contents[item], layer.gold(contents[item], part), None))
        for item, part in keys
    }
