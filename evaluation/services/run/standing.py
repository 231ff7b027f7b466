"""What is stored about the cases of one run: what it is scored against, and compared with."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from evaluation.layers import Context, Example
from evaluation.layers.base import Scored
from evaluation.metrics import yardsticks as metrics_of
from evaluation.metrics.metric import Metric, Share
from evaluation.metrics.summary import contribution
from evaluation.metrics.yardsticks import ByPerson, Cases, Measured, Yardsticks
from evaluation.models import CaseRun, Run, YardstickCase
from evaluation.services.launch import spec
from evaluation.services.run.yardsticks import (
    NOT_ABOUT_LABELS,
    NOT_COMPUTED,
    NOT_MADE_BY_PEOPLE,
    OF_PIPELINES,
    PEOPLE,
    CaseKey,
    Frame,
    StoredByPerson,
    StoredShare,
    against_each,
    budget_of,
    configs_of,
)
from labeling.domain.facts import Fact

BATCH = 200
NOBODY: ByPerson = {}


class Column:
    """What one metric has of every case: ``None`` and nobody, until a case is filled in."""

    def __init__(self, n: int) -> None:
        self.shares: list[Share | None] = [None] * n
        self.by_person: list[ByPerson] = [NOBODY] * n

    def fill(
        self, place: int, share: StoredShare | None, by_person: Mapping[str, StoredShare]
    ) -> None:
        if share is not None:
            self.shares[place] = Share(*share)
        if by_person:
            self.by_person[place] = {person: Share(*each) for person, each in by_person.items()}

    def measured(self) -> Measured:
        return Measured(self.shares, self.by_person)


class Standing:
    """What is stored about the cases of one run: what it is scored against, and compared with."""

    def __init__(self, run: Run, context: Context) -> None:
        self._frame = Frame(run.release, context)
        self._run = run
        layer = self._frame.layer
        names = [PEOPLE, *layer.floors]
        hashes = {
            name: spec.sha256_of(config)
            for name, config in configs_of(layer, budget_of(run)).items()
        } | {PEOPLE: spec.sha256_of({})}
        newest = {
            row.pipeline: row
            for row in self._frame.yardsticks().measured().filter(pipeline__in=names).order_by("pk")
            if row.config_sha256 == hashes[row.pipeline]
        }
        self._by_pipeline = {name: newest[name] for name in names if name in newest}
        self._gold_without: dict[CaseKey, dict[str, Any]] = {}

    def read_gold_without(self, items: Iterable[int]) -> None:
        """The gold without each person of these items, in place of those before."""
        rows = YardstickCase.objects.filter(
            yardstick=self._by_pipeline.get(PEOPLE), item__in=set(items)
        )
        self._gold_without = {(row.item_id, row.part): row.gold_without for row in rows}

    def _columns(self, keys: Sequence[CaseKey]) -> dict[str, dict[str, Column]]:
        """Of people and each floor, the columns of all metrics."""
        names = {row.pk: name for name, row in self._by_pipeline.items()}
        columns: dict[str, dict[str, Column]] = {
            name: {metric.id: Column(len(keys)) for metric in self._frame.metrics}
            for name in names.values()
        }
        places = {key: place for place, key in enumerate(keys)}
        items = CaseRun.objects.filter(run=self._run).values("item")
        rows = YardstickCase.objects.filter(yardstick__in=names, item__in=items)
        fields = rows.values_list("yardstick", "item", "part", "shares", "by_person")
        every: Iterator[Any] = fields.iterator(chunk_size=BATCH)
        for pk, item, part, shares, by_person in every:
            place = places.get((item, part))
            if place is None:
                continue
            for metric, column in columns[names[pk]].items():
                column.fill(place, shares.get(metric), by_person.get(metric, {}))
        return columns

    def by_person(self, case: CaseRun, example: Example, *, failed: bool) -> StoredByPerson:
        """What the run scores on the case against the gold without each person."""
        gold_without = self._gold_without.get((case.gold_item_id, case.part), {})
        return against_each(self._frame, example, gold_without, failed=failed)

    def of_metrics(
        self,
        keys: Sequence[CaseKey],
        scored: Sequence[Scored],
        by_person: Mapping[str, Sequence[ByPerson]],
    ) -> dict[str, Yardsticks]:
        """What is stored next to the figure of each metric."""
        cases = Cases([each.cluster for each in scored], [not each.example.gold for each in scored])
        columns = self._columns(keys)
        beside = {}
        for metric in self._frame.metrics:
            run = Measured(
                [
                    contribution(metric, each.values[metric.id], failed=each.failed_at(metric.id))
                    for each in scored
                ],
                by_person.get(metric.id) or [NOBODY] * len(keys),
            )
            measured = {name: of[metric.id].measured() for name, of in columns.items()}
            beside[metric.id] = self._of_metric(metric, cases, run, measured)
        return beside

    def _of_metric(
        self, metric: Metric, cases: Cases, run: Measured, measured: Mapping[str, Measured]
    ) -> Yardsticks:
        layer = self._frame.layer
        people = measured.get(PEOPLE)
        beside = metrics_of.measure(
            metric,
            cases,
            run,
            {name: measured[name] for name in layer.floors if name in measured},
            people.by_person if people else [NOBODY] * len(run.shares),
            reference=layer.floors[0],
            is_tested=metric.id in layer.headline,
        )
        why = self._why_no_people(metric)
        return metrics_of.without_people(beside, why) if why else beside

    def _why_no_people(self, metric: Metric) -> Fact | None:
        if not self._frame.layer.by_people:
            return NOT_MADE_BY_PEOPLE
        if metric.id in OF_PIPELINES:
            return NOT_ABOUT_LABELS
        return None if PEOPLE in self._by_pipeline else NOT_COMPUTED
