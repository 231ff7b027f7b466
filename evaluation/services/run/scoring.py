"""From stored outputs to scores and aggregates. It runs no pipeline and may be repeated.

A part of the cases at a time: their scores are stored at once and stay when the process dies, so
the one that takes over goes on behind them. The figures of the run are made of what is stored,
without the texts, so that neither memory nor the lock on the database grows with the conversations.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any, cast
from uuid import UUID

from django.db import transaction

from evaluation import adapters
from evaluation.layers import Context, Example, Scored, gold_layer
from evaluation.layers.base import FAILED, chance_level, values_of
from evaluation.metrics.calibration import NO_PREDICTION
from evaluation.metrics.metric import Share
from evaluation.metrics.registry import Metric, Value
from evaluation.metrics.summary import FIGURES, Summary, contribution, summarize
from evaluation.metrics.yardsticks import ByPerson
from evaluation.models import Aggregate, CaseRun, Run, Score
from evaluation.services.judging import answers, certificates
from evaluation.services.launch import spec
from evaluation.services.run import answer_scoring, results, yardsticks
from evaluation.services.run.standing import Column, Standing
from evaluation.services.run.yardsticks import CaseKey
from evaluation.services.work import endings, leases
from labeling.agreement import vectors
from labeling.domain.batches import batches
from labeling.domain.facts import Fact
from labeling.gold.rules.content import GoldContent

SCORE_FIELDS = ["value", "numerator", "weight", "chance", "reason", "detail", "by_person"]
AGGREGATE_FIELDS = [*FIGURES, "chance", "reason", "detail", "yardsticks"]

OF_VALUE = (
    *("case_id", "metric", "by_person"),
    *("value", "reason", "detail", "numerator", "weight", "chance"),
)
"""The columns of a score that figures are made of."""

NOBODY_RETURNED = Fact("metric.nobody_returned")
AT_ONCE = 100
"""Cases whose scores are stored in one transaction: others who write hardly wait for it."""


def score(run_id: int, owner: UUID) -> None:
    """Score every case of a run whose cases are done, and then the run."""
    run = Run.objects.select_related("release", "project").get(pk=run_id)
    if not run.is_measured:
        _end_unmeasured(run, owner)
        return
    if not run.spec.has_answers:
        answers.adopt(run)
    scorer = _Scorer(run)
    done = scorer.stored_before()
    for n_cases, scores in scorer.parts(done):
        done += n_cases
        with transaction.atomic():
            if not leases.note_scored(run_id, owner, done):
                return
            _replace(scores, ["case", "metric", "metric_version"], SCORE_FIELDS)
    aggregates = scorer.aggregates()
    with transaction.atomic():
        measures = spec.measures(run.spec.layer, answered=run.spec.has_answers)
        measured = run.spec.with_values(**measures, ruler=scorer.context.ruler.id)
        if leases.finish_scoring(run_id, owner, spec=measured, scored_cases=0):
            _replace(aggregates, ["run", "metric", "metric_version"], AGGREGATE_FIELDS)
            endings.finished(run)
            if run.spec.has_answers:
                certificates.attempt_judges_of(run)


@transaction.atomic
def _end_unmeasured(run: Run, owner: UUID) -> None:
    """Without gold there is no figure to compute: none is stored, and none is zero."""
    if leases.finish_scoring(run.pk, owner):
        endings.finished(run)


class _Scorer:
    """Everything that the cases of a run are scored with."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self._layer = gold_layer(run.release.layer)
        self.context = Context(vectors.ruler(), run.spec, self._absent())
        self._metrics = run.spec.all_metrics()
        yardsticks.ensure(run, self.context.ruler)
        self._standing = Standing(run, self.context)
        self._judged = answer_scoring.load(run)
        self._ratings = adapters.ratings_of(run) if self._layer.rated else None
        self._pks = list(run.cases.order_by("item", "pk").values_list("pk", flat=True))

    def _absent(self) -> dict[str, Fact]:
        """A failed case is no evidence that a pipeline would have ranked, or replied in words."""
        done = self._run.cases.filter(state=CaseRun.State.DONE)
        return {
            metric: NOBODY_RETURNED
            for name, metrics in self._layer.optional.items()
            if not done.filter(**{f"output__{name}__isnull": False})
            .exclude(**{f"output__{name}": None})
            .exists()
            for metric in metrics
        }

    def stored_before(self) -> int:
        """How many cases another process has scored; none if that was by other metrics."""
        noted = self._run.scored_cases
        if not noted:
            return 0
        wanted = noted * sum(metric.per_case for metric in self._metrics)
        has_all = self._current_scores().filter(case__run=self._run).count() >= wanted
        return noted if has_all else 0

    def parts(self, begin: int) -> Iterator[tuple[int, list[Score]]]:
        """Some cases at a time: how many they are, and their scores."""
        for pks in batches(self._pks[begin:], AT_ONCE):
            cases = self._examples(pks)
            self._standing.read_gold_without(case.gold_item_id for case, _ in cases)
            scored_cases = [self._score_case(*case) for case in cases]
            yield len(pks), [row for each in scored_cases for row in self._score_rows(*each)]

    def aggregates(self) -> list[Aggregate]:
        """From the stored scores of all cases."""
        keys, scored, by_person = self._stored_cases()
        beside = self._standing.of_metrics(keys, scored, by_person)
        details = self._layer.details(scored, self.context)
        details |= self._judged.details() if self._judged else {}
        pooled = self._layer.pooled(scored, self.context)
        rows = []
        for metric in self._metrics:
            if metric.per_case:
                summary, chance = _summary(metric, scored), chance_level(metric, scored)
            else:
                by_chance: Any = details.get("ece", {}).get("chance", {})
                summary, chance = pooled[metric.id], by_chance.get(metric.id)
            rows.append(
                Aggregate(
                    run=self._run,
                    metric=metric.id,
                    metric_version=metric.version,
                    chance=chance,
                    reason=None if summary.n else _why_undefined(metric, scored),
                    detail=details.get(metric.id, {}),
                    yardsticks=beside.get(metric.id, {}),
                    **asdict(summary),
                )
            )
        return rows

    def _examples(self, pks: Sequence[int]) -> list[tuple[CaseRun, Example]]:
        rows = CaseRun.objects.filter(pk__in=pks).select_related("item").defer("item__canonical")
        cases = list(rows.order_by("item", "pk"))
        examples = list(adapters.examples(cases, self._layer, self._ratings))
        self.context.ruler.prime(
            text for example in examples for text in self._layer.texts(example)
        )
        return list(zip(cases, examples, strict=True))

    def _score_case(self, case: CaseRun, example: Example) -> tuple[CaseRun, Scored]:
        failed = self._failed(case, example)
        values = values_of(example, self._layer, self.context, failed=failed)
        if self._judged:
            failure = FAILED if failed else None
            values |= self._judged.values(case.pk, example, failure=failure)
        return case, Scored(example, values, failed, case.item.conversation_id)

    def _failed(self, case: CaseRun, example: Example) -> bool:
        """What cannot be scored at all is nobody's failure, so it is looked at first."""
        return case.state == CaseRun.State.FAILED and not self._layer.unscorable(example)

    def _score_rows(self, case: CaseRun, scored: Scored) -> Iterator[Score]:
        by_person = self._standing.by_person(case, scored.example, failed=scored.failed)
        for metric in self._metrics:
            if metric.per_case:
                value = scored.values[metric.id]
                share = contribution(metric, value, failed=scored.failed_at(metric.id))
                yield Score(
                    case=case,
                    metric=metric.id,
                    metric_version=metric.version,
                    value=value.value,
                    chance=value.chance,
                    numerator=share.numerator if share else None,
                    weight=share.denominator if share else None,
                    by_person=by_person.get(metric.id, {}),
                    reason=value.reason,
                    detail=value.detail or {},
                )

    def _current_scores(self) -> Any:
        return Score.objects.filter(results.current_of(self._metrics)).order_by()

    def _stored_cases(self) -> tuple[list[CaseKey], list[Scored], dict[str, list[ByPerson]]]:
        """All cases as their figures need them; by metric, what each scores against gold made
        without each person's labels."""
        keys: list[CaseKey] = []
        all_scored: list[Scored] = []
        columns = {metric.id: Column(len(self._pks)) for metric in self._metrics}
        places = {pk: place for place, pk in enumerate(self._pks)}
        for pks in batches(self._pks, AT_ONCE):
            values: dict[int, dict[str, Value]] = {pk: {} for pk in pks}
            stored = self._current_scores().filter(case__in=pks)
            for case_id, metric, people, *rest in stored.values_list(*OF_VALUE):
                values[case_id][metric] = _value_of(*rest)
                columns[metric].fill(places[case_id], None, people)
            contents: dict[int, GoldContent] = {}
            for case, example in self._examples(pks):
                short = contents.setdefault(case.gold_item_id, _without_texts(example.content))
                keys.append((case.gold_item_id, case.part))
                all_scored.append(
                    Scored(
                        replace(example, content=short),
                        values[case.pk],
                        self._failed(case, example),
                        case.item.conversation_id,
                    )
                )
        by_person = {metric: column.by_person for metric, column in columns.items()}
        return keys, all_scored, by_person


def _value_of(
    value: float | None,
    reason: Fact | None,
    detail: Mapping[str, Any],
    numerator: float | None,
    weight: float | None,
    chance: float | None,
) -> Value:
    has_share = numerator is not None and weight is not None
    share = Share(numerator, weight) if has_share else None  # type: ignore[arg-type]
    return Value(value, reason, detail=detail or None, share=share, chance=chance)


def _without_texts(content: GoldContent) -> GoldContent:
    """What groups a case, and how many messages it has: labels are kept by the example."""
    kept = {name: content.get(name) for name in ("difficulty", "domain")}
    return cast(GoldContent, {**kept, "conversation": [None] * len(content["conversation"])})


def _replace(rows: Sequence[Any], same: list[str], fields: list[str]) -> None:
    """Where there is a row with the same values of ``same``, its ``fields`` are replaced."""
    for row in rows[:1]:
        type(row).objects.bulk_create(
            rows, update_conflicts=True, unique_fields=same, update_fields=fields, batch_size=500
        )


def _summary(metric: Metric, scored: list[Scored]) -> Summary:
    return summarize(
        metric,
        [case.values[metric.id] for case in scored],
        clusters=[case.cluster for case in scored],
        failed=[case.failed_at(metric.id) for case in scored],
    )


def _why_undefined(metric: Metric, scored: list[Scored]) -> Fact:
    """The reason that the cases give, or that of a metric over all predictions."""
    reasons = [case.values[metric.id].reason for case in scored if metric.id in case.values]
    return next(filter(None, reasons), NO_PREDICTION)
