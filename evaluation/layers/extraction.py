"""Requirements that the conversation states."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypedDict

from evaluation.layers import checks
from evaluation.layers.base import AggregateDetails, Context, Example, GoldLayer, Scored
from evaluation.layers.breakdown import Breakdown, recall_by, standard
from evaluation.metrics import items
from evaluation.metrics.calibration import (
    calibration,
    chance_levels,
    summarize_calibration,
)
from evaluation.metrics.inference import RelevanceDetail
from evaluation.metrics.items import CurveRow, ExtractionDetail
from evaluation.metrics.registry import Value
from evaluation.metrics.summary import Summary
from labeling.domain.msgids import msgid
from labeling.domain.stored import Stored

TEXT_FIELDS = ("title", "type", "actor", "action", "priority")
REQUIREMENT = (
    *("title", "type", "actor", "action", "condition"),
    *("acceptance_criteria", "priority"),
)
STATED = (*REQUIREMENT, "source_messages", "confidence")

Point = tuple[float, int]


class ExtractionAggregate(TypedDict):
    """What a run stores next to ``requirement_f1``."""

    micro: CurveRow
    curve: list[CurveRow]
    breakdowns: list[Breakdown]


class Reliability(TypedDict):
    """What a run stores next to ``ece``."""

    chance: dict[str, float | None]
    bins: list[Stored]
    predictions: int


class Extraction(GoldLayer):
    name = "extraction"
    exemplified = True
    matched = True
    off = frozenset({items.NO_GOLD_PRIORITY})
    headline = ("requirement_f1", "requirement_recall", "requirement_precision")
    groups = (
        (msgid("Labels found"), headline),
        (
            msgid("Fields of matched labels"),
            (
                *("type_accuracy", "actor_accuracy", "priority_accuracy"),
                *("source_overlap", "criteria_completeness"),
            ),
        ),
        (msgid("Stated confidence"), ("ece", "mce", "brier")),
    )
    log = ("requirement_recall", "requirement_precision")
    shown = STATED
    suggested = True

    def check(self, output: Mapping[str, Any], *, message_count: int) -> None:
        for path, label in checks.labels(output, self.key):
            check_requirement(label, path, message_count=message_count)

    def score(self, example: Example, context: Context) -> dict[str, Value]:
        return items.score_extraction(
            example.gold,
            self.predicted(example.output),
            threshold=context.threshold,
            **context.matching,
        )

    def pooled(self, scored: Sequence[Scored], context: Context) -> dict[str, Summary]:
        return pooled_calibration(scored, "requirement_f1")

    def details(self, scored: Sequence[Scored], context: Context) -> AggregateDetails:
        by_type = recall_by(scored, "requirement_f1", "type", "Type")
        groups = standard(self, scored, title="F1", metric="requirement_f1", labels=by_type)
        curve = self._curve(scored, context)
        f1: ExtractionAggregate = {
            "micro": next(row for row in curve if row["threshold"] == context.threshold),
            "curve": curve,
            "breakdowns": groups,
        }
        return {"requirement_f1": f1, "ece": reliability(scored, "requirement_f1")}

    def _curve(self, scored: Sequence[Scored], context: Context) -> list[CurveRow]:
        """Counts over all cases together, along the curve and at the run's threshold."""
        thresholds = sorted({*items.CURVE, context.threshold})
        curves = [
            dict.fromkeys(thresholds, items.lost(len(case.example.gold)))
            if case.failed
            else items.threshold_curve(
                case.example.gold,
                self.predicted(case.example.output),
                thresholds=thresholds,
                **context.matching,
            )
            for case in scored
        ]
        return items.curve_rows(curves)


def check_requirement(label: Any, path: str, *, message_count: int) -> None:
    check_fields(label, path)
    checks.sources(label.get("source_messages") or [], f"{path}.source_messages", message_count)


def check_fields(label: Any, path: str, fields: tuple[str, ...] = TEXT_FIELDS) -> None:
    checks.mapping(label, path)
    for field in fields:
        checks.text(label.get(field), f"{path}.{field}")
    checks.texts(label.get("acceptance_criteria") or [], f"{path}.acceptance_criteria")
    checks.confidence(label.get("confidence"), f"{path}.confidence")


def points_of(case: Scored, metric: str) -> list[Point]:
    """Each prediction's confidence and whether it was right, from the detail of ``metric``."""
    if case.failed:
        return []
    detail: ExtractionDetail | RelevanceDetail = case.values[metric].detail
    return detail["points"]


def pooled_calibration(scored: Sequence[Scored], metric: str) -> dict[str, Summary]:
    return summarize_calibration(
        [points_of(case, metric) for case in scored],
        clusters=[case.cluster for case in scored],
        failed=[case.failed for case in scored],
    )


def reliability(scored: Sequence[Scored], metric: str) -> Reliability:
    by_case = [points_of(case, metric) for case in scored]
    points = [point for own in by_case for point in own]
    curve = calibration([stated for stated, _ in points], [correct for _, correct in points])
    return {
        "bins": curve.curve,
        "predictions": curve.n,
        "chance": chance_levels(by_case, failed=[case.failed for case in scored]),
    }
