"""From stored outputs to scores and aggregates. It runs no pipeline and may be repeated."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db import transaction
from django.utils import timezone

from evaluation import adapters
from evaluation.metrics import items
from evaluation.metrics.calibration import (
    NO_PREDICTION,
    calibration,
    summarize_calibration,
)
from evaluation.metrics.registry import Metric, Value, metrics_for
from evaluation.metrics.summary import FIGURES, Summary, summarize
from evaluation.models import Aggregate, CaseRun, Run, Score
from evaluation.services import leases, spec
from labeling.domain.matching import texts_to_prime
from labeling.domain.similarity import Ruler
from labeling.models import GoldItem
from labeling.services import vectors

FAILED = "The pipeline failed on this case: it counts with the worst value."
SCORE_FIELDS = ["value", "reason", "detail"]
AGGREGATE_FIELDS = [*FIGURES, "reason", "detail"]


@dataclass(frozen=True, slots=True)
class ScoredCase:
    """One case with what the aggregates need of it."""

    case: CaseRun
    gold: list[dict[str, Any]]
    predicted: list[dict[str, Any]]
    values: Mapping[str, Value]

    @property
    def failed(self) -> bool:
        return self.case.state == CaseRun.State.FAILED

    @property
    def points(self) -> list[tuple[float, int]]:
        """Each prediction's confidence and whether it was matched."""
        if self.failed:
            return []
        points: list[tuple[float, int]] = self.values["requirement_f1"].detail["points"]
        return points


def score(run_id: int, owner: UUID) -> None:
    """Score every case of a run whose cases are done, and store all of it at once."""
    run = Run.objects.select_related("release").get(pk=run_id)
    ruler = vectors.ruler()
    scored = _score_cases(run, ruler)
    metrics = metrics_for(run.release.layer)
    scores = [row for case in scored for row in _score_rows(case, metrics)]
    aggregates = _aggregates(run, scored, ruler)
    with transaction.atomic():
        scored_with = run.spec | spec.measures(run.release.layer) | {"ruler": ruler.id}
        if not leases.finish_scoring(run_id, owner, scored_at=timezone.now(), spec=scored_with):
            return
        _store(scores, aggregates)


def _store(scores: list[Score], aggregates: list[Aggregate]) -> None:
    """Scores of the same metric version are replaced; those of other versions stay."""
    Score.objects.bulk_create(
        scores,
        batch_size=500,
        update_conflicts=True,
        unique_fields=["case", "metric", "metric_version"],
        update_fields=SCORE_FIELDS,
    )
    Aggregate.objects.bulk_create(
        aggregates,
        update_conflicts=True,
        unique_fields=["run", "metric", "metric_version"],
        update_fields=AGGREGATE_FIELDS,
    )


def _score_cases(run: Run, ruler: Ruler) -> list[ScoredCase]:
    layer = run.release.layer
    gold = {
        item.pk: adapters.gold_labels(item.content, layer)
        for item in GoldItem.objects.filter(case_runs__run=run).distinct()
    }
    cases = list(run.cases.select_related("item__conversation").order_by("pk"))
    predicted = {case.pk: _predicted(case, layer) for case in cases}
    ruler.prime(
        text for labels in [*gold.values(), *predicted.values()] for text in texts_to_prime(labels)
    )
    return [
        ScoredCase(
            case,
            gold[case.item_id],
            predicted[case.pk],
            _values(run, case, gold[case.item_id], predicted[case.pk], ruler),
        )
        for case in cases
    ]


def _predicted(case: CaseRun, layer: str) -> list[dict[str, Any]]:
    return adapters.predicted_labels(case.output, layer) if case.output is not None else []


def _values(
    run: Run,
    case: CaseRun,
    gold: list[dict[str, Any]],
    predicted: list[dict[str, Any]],
    ruler: Ruler,
) -> dict[str, Value]:
    if case.state == CaseRun.State.FAILED:
        metrics = metrics_for(run.release.layer)
        return {m.id: Value(m.worst, FAILED) for m in metrics if m.scope == "case"}
    matching = run.spec["matching"]
    return items.score_extraction(
        gold,
        predicted,
        ruler=ruler,
        synonyms=matching["synonyms"],
        threshold=matching["threshold"],
    )


def _score_rows(scored: ScoredCase, metrics: list[Metric]) -> Iterator[Score]:
    for metric in metrics:
        if metric.scope == "case":
            value = scored.values[metric.id]
            yield Score(
                case=scored.case,
                metric=metric.id,
                metric_version=metric.version,
                value=value.value,
                reason=value.reason,
                detail=value.detail or {},
            )


def _aggregates(run: Run, scored: list[ScoredCase], ruler: Ruler) -> list[Aggregate]:
    metrics = metrics_for(run.release.layer)
    summaries = _summaries(run, metrics, scored)
    details = {"requirement_f1": _micro(run, scored, ruler), "ece": _reliability(scored)}
    return [
        Aggregate(
            run=run,
            metric=metric.id,
            metric_version=metric.version,
            reason="" if summaries[metric.id].n else _why_undefined(metric, scored),
            detail=details.get(metric.id, {}),
            **summaries[metric.id].as_json(),
        )
        for metric in metrics
    ]


def _summaries(run: Run, metrics: list[Metric], scored: list[ScoredCase]) -> dict[str, Summary]:
    clusters = [case.case.item.conversation_id for case in scored]
    failed = [case.failed for case in scored]
    found = summarize_calibration(
        [case.points for case in scored], clusters=clusters, failed=failed, seed=run.seed
    )
    for metric in metrics:
        if metric.scope == "case":
            values = [case.values[metric.id].value for case in scored]
            found[metric.id] = summarize(
                values, clusters=clusters, failed=failed, seed=run.seed, worst=metric.worst
            )
    return found


def _why_undefined(metric: Metric, scored: list[ScoredCase]) -> str:
    """The reason that the cases give, or that of a metric over all predictions."""
    reasons = [case.values[metric.id].reason for case in scored if metric.id in case.values]
    return reasons[0] if reasons else NO_PREDICTION


def _reliability(scored: list[ScoredCase]) -> dict[str, Any]:
    points = [point for case in scored for point in case.points]
    found = calibration([stated for stated, _ in points], [correct for _, correct in points])
    return {"bins": found.as_json()["bins"], "predictions": found.n}


def _micro(run: Run, scored: list[ScoredCase], ruler: Ruler) -> dict[str, Any]:
    """Counts over all cases together, at the run's threshold and along the curve."""
    matching = run.spec["matching"]
    curves = [
        items.threshold_curve(
            case.gold,
            case.predicted,
            ruler=ruler,
            synonyms=matching["synonyms"],
            thresholds=sorted({*items.CURVE, matching["threshold"]}),
        )
        for case in scored
    ]
    rows = items.curve_rows(curves)
    chosen = next(row for row in rows if row["threshold"] == matching["threshold"])
    return {"micro": chosen, "curve": rows}
