"""Requirements that nobody stated, but that follow from what was stated."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypedDict

from evaluation.layers import checks
from evaluation.layers.base import (
    AggregateDetails,
    Context,
    Example,
    GoldLayer,
    Label,
    Scored,
    given_requirements,
)
from evaluation.layers.breakdown import NOT_SAID, Breakdown, Counted, rows, standard
from evaluation.layers.extraction import (
    REQUIREMENT,
    TEXT_FIELDS,
    check_fields,
    pooled_calibration,
    reliability,
)
from evaluation.metrics.inference import MOST, Basis, RelevanceDetail, score_inference
from evaluation.metrics.items import Counts, CountsDetail, pooled
from evaluation.metrics.metric import Share
from evaluation.metrics.registry import Value
from evaluation.metrics.summary import Summary
from labeling.domain.msgids import msgid
from labeling.gold.rules.content import GoldContent

RELEVANCE = "inference_relevance"
INFERRED_FIELDS = (*TEXT_FIELDS, "inference_type", "necessity")


class RelevanceAggregate(TypedDict):
    """What a run stores next to the relevance; in ``nothing`` cases nothing was inferred."""

    basis: Basis
    nothing: int
    micro: CountsDetail
    breakdowns: list[Breakdown]


class Inference(GoldLayer):
    name = "inference"
    matched = True
    headline = (RELEVANCE, "false_inference_rate")
    groups = (
        (msgid("Inferred requirements"), headline),
        (msgid("Stated confidence"), ("ece", "mce", "brier")),
    )
    shown = (
        *REQUIREMENT,
        *("inference_type", "triggered_by", "necessity", "rationale", "confidence"),
    )
    suggested = True
    rated = True
    floors = ("everything", "nothing")  # who infers nothing has relevance 1 by definition

    def requirements(self, content: GoldContent) -> list[Label]:
        return given_requirements(content)

    def check(self, output: Mapping[str, Any], *, message_count: int) -> None:
        for path, label in checks.labels(output, self.key):
            check_inferred(label, path)

    def score(self, example: Example, context: Context) -> dict[str, Value]:
        return score_inference(
            example.gold,
            self.predicted(example.output),
            ratings=example.ratings,
            threshold=context.threshold,
            **context.matching,
        )

    def pooled(self, scored: Sequence[Scored], context: Context) -> dict[str, Summary]:
        return pooled_calibration(scored, RELEVANCE)

    def details(self, scored: Sequence[Scored], context: Context) -> AggregateDetails:
        explained = [_detail(case) for case in scored if not case.failed]
        counts = pooled(map(Counts.read, explained))
        lost = sum(len(case.example.gold) for case in scored if case.failed)
        groups = standard(
            self, scored, title="Relevance", metric=RELEVANCE, labels=self._by_type(scored)
        )
        relevance: RelevanceAggregate = {
            "basis": next((detail["basis"] for detail in explained), "gold"),
            "nothing": sum(detail["predicted"] == 0 for detail in explained),
            "micro": {**counts.detail, "gold": counts.gold + lost},
            "breakdowns": groups,
        }
        return {RELEVANCE: relevance, "ece": reliability(scored, RELEVANCE)}

    def _by_type(self, scored: Sequence[Scored]) -> Breakdown:
        """What the predictions of each type are worth."""
        groups = rows(
            Counted(
                str(label.get("inference_type") or NOT_SAID), Share(score / MOST, 1.0), case.cluster
            )
            for case in scored
            if not case.failed
            for label, score in zip(
                self.predicted(case.example.output), _detail(case)["scores"], strict=False
            )
        )
        return {
            "title": "Inference type",
            "measure": "Relevance",
            "unit": "Inferred requirements",
            "rows": groups,
        }


def check_inferred(label: Any, path: str) -> None:
    check_fields(label, path, INFERRED_FIELDS)
    checks.texts(label.get("triggered_by") or [], f"{path}.triggered_by")
    checks.integers(label.get("source_messages") or [], f"{path}.source_messages")


def _detail(case: Scored) -> RelevanceDetail:
    detail: RelevanceDetail = case.values[RELEVANCE].detail
    return detail
