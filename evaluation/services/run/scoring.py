"""From stored outputs to scores and aggregates. It runs no pipeline and may be repeated."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from uuid import UUID

from django.db import transaction

from evaluation import adapters
from evaluation.layers import Context, Example, GoldLayer, Scored, gold_layer
from evaluation.layers.base import chance_level
from evaluation.layers.values import FAILED, values_of
from evaluation.metrics.calibration import NO_PREDICTION
from evaluation.metrics.registry import Metric
from evaluation.metrics.summary import FIGURES, Summary, contribution, summarize
from evaluation.metrics.yardsticks import Yardsticks
from evaluation.models import Aggregate, CaseRun, Run, Score, StageTrace
from evaluation.services.launch import spec
from evaluation.services.run import answer_scoring, yardsticks
from evaluation.services.run.answer_scoring import Judged
from evaluation.services.run.yardsticks import StoredByPerson
from evaluation.services.work import endings, leases
from labeling.domain.facts import Fact
from labeling.services import vectors

SCORE_FIELDS = ["value", "numerator", "weight", "chance", "reason", "detail", "by_person"]
AGGREGATE_FIELDS = [*FIGURES, "chance", "reason", "detail", "yardsticks"]
TRACE_FIELDS = ["set_size", "corpus_size", "present", "ids", "scores"]


@dataclass(frozen=True, slots=True)
class ScoredCase:
    """A row and what was found out about it."""

    case: CaseRun
    scored: Scored


@dataclass(frozen=True, slots=True)
class _Measured:
    """Everything that scoring a run stores."""

    ruler: str
    scores: list[Score]
    traces: list[StageTrace]
    aggregates: list[Aggregate]


def score(run_id: int, owner: UUID) -> None:
    """Score every case of a run whose cases are done, and store all of it at once."""
    run = Run.objects.select_related("release").get(pk=run_id)
    measured = _measure(run)

    def finish() -> bool:
        spec = run.spec.with_values(**_measures(run), ruler=measured.ruler)
        if not leases.finish_scoring(run_id, owner, spec=spec):
            return False
        endings.finished(run)
        return True

    _store(measured, finish)


def rescore_rated(run_id: int, finish: Callable[[], bool]) -> None:
    """Figures of a finished run after people have rated more of it; it stays finished."""
    run = Run.objects.select_related("release").get(pk=run_id)
    if is_current(run):
        _store(_measure(run), finish)


def is_current(run: Run) -> bool:
    """Whether its figures are of the metrics in force; else it has to be scored again first."""
    return bool(run.spec.metrics == _measures(run)["metrics"])


def _measures(run: Run) -> spec.Measures:
    return spec.measures(run.spec.layer, answered=run.spec.has_answers)


def _measure(run: Run) -> _Measured:
    layer = gold_layer(run.release.layer)
    context = Context(vectors.ruler(), run.spec)
    yardsticks.ensure(run, context.ruler)
    judged = answer_scoring.load(run)
    cases = _score_cases(run, layer, context, judged)
    metrics = run.spec.all_metrics()
    standing = yardsticks.Standing(run, context)
    by_person = [
        standing.by_person(case.case, case.scored.example, failed=case.scored.failed)
        for case in cases
    ]
    beside = standing.of_metrics(
        [case.case for case in cases], [case.scored for case in cases], by_person
    )
    return _Measured(
        ruler=context.ruler.id,
        scores=[
            row
            for case, own in zip(cases, by_person, strict=True)
            for row in _score_rows(case, metrics, own)
        ],
        traces=[row for case in cases for row in _trace_rows(case, layer)],
        aggregates=_aggregates(
            run, layer, [case.scored for case in cases], context, judged, beside
        ),
    )


@transaction.atomic
def _store(measured: _Measured, finish: Callable[[], bool]) -> None:
    """Scores of the same metric version are replaced; those of other versions stay.

    ``finish`` says in the same transaction whether these figures are still wanted.
    """
    if not finish():
        return
    Score.objects.bulk_create(
        measured.scores,
        batch_size=500,
        update_conflicts=True,
        unique_fields=["case", "metric", "metric_version"],
        update_fields=SCORE_FIELDS,
    )
    StageTrace.objects.bulk_create(
        measured.traces,
        batch_size=500,
        update_conflicts=True,
        unique_fields=["case", "checkpoint"],
        update_fields=TRACE_FIELDS,
    )
    Aggregate.objects.bulk_create(
        measured.aggregates,
        update_conflicts=True,
        unique_fields=["run", "metric", "metric_version"],
        update_fields=AGGREGATE_FIELDS,
    )


def _score_cases(
    run: Run, layer: GoldLayer, context: Context, judged: Judged | None
) -> list[ScoredCase]:
    cases = run.cases.select_related("item").defer("item__canonical").order_by("item", "pk")
    ratings = adapters.ratings_of(run) if layer.rated else None
    examples = [(case, adapters.to_example(case, layer, ratings)) for case in cases]
    context.ruler.prime(text for _, example in examples for text in layer.texts(example))
    return [_score_case(case, example, layer, context, judged) for case, example in examples]


def _score_case(
    case: CaseRun, example: Example, layer: GoldLayer, context: Context, judged: Judged | None
) -> ScoredCase:
    """What cannot be scored at all is nobody's failure, so it is looked at first."""
    failed = case.state == CaseRun.State.FAILED and not layer.unscorable(example)
    values = values_of(example, layer, context, failed=failed)
    if judged:
        values |= judged.values(case.pk, example, failure=FAILED if failed else None)
    return ScoredCase(case, Scored(example, values, failed, case.item.conversation_id))


def _score_rows(
    scored_case: ScoredCase, metrics: list[Metric], by_person: StoredByPerson
) -> Iterator[Score]:
    for metric in metrics:
        if metric.per_case:
            value = scored_case.scored.values[metric.id]
            failed = scored_case.scored.failed_at(metric.id)
            share = contribution(metric, value, failed=failed)
            yield Score(
                case=scored_case.case,
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


def _trace_rows(scored_case: ScoredCase, layer: GoldLayer) -> Iterator[StageTrace]:
    if not scored_case.scored.failed:
        for fields in layer.traces(scored_case.scored.example):
            yield StageTrace(case=scored_case.case, **fields)


def _aggregates(
    run: Run,
    layer: GoldLayer,
    scored: list[Scored],
    context: Context,
    judged: Judged | None,
    beside: Mapping[str, Yardsticks],
) -> list[Aggregate]:
    metrics = run.spec.all_metrics()
    summaries = _summaries(layer, metrics, scored, context)
    details = layer.details(scored, context) | (judged.details() if judged else {})
    return [
        Aggregate(
            run=run,
            metric=metric.id,
            metric_version=metric.version,
            chance=chance_level(metric, scored),
            reason=None if summaries[metric.id].n else _why_undefined(metric, scored),
            detail=details.get(metric.id, {}),
            yardsticks=beside.get(metric.id, {}),
            **summaries[metric.id].as_json(),
        )
        for metric in metrics
    ]


def _summaries(
    layer: GoldLayer, metrics: list[Metric], scored: list[Scored], context: Context
) -> dict[str, Summary]:
    clusters = [case.cluster for case in scored]
    summaries = layer.pooled(scored, context)
    for metric in metrics:
        if metric.per_case:
            summaries[metric.id] = summarize(
                metric,
                [case.values[metric.id] for case in scored],
                clusters=clusters,
                failed=[case.failed_at(metric.id) for case in scored],
            )
    return summaries


def _why_undefined(metric: Metric, scored: list[Scored]) -> Fact:
    """The reason that the cases give, or that of a metric over all predictions."""
    reasons = [case.values[metric.id].reason for case in scored if metric.id in case.values]
    return next(filter(None, reasons), NO_PREDICTION)
