"""Issues: what is wrong with how a requirement is written."""

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
    MalformedOutput,
    Scored,
    given_requirements,
)
from evaluation.layers.breakdown import Breakdown, recall_by, standard
from evaluation.metrics.items import Counts, CountsDetail, lost, pooled
from evaluation.metrics.registry import Value
from evaluation.metrics.validation import score_validation
from labeling.domain.msgids import msgid
from labeling.gold.rules.content import GoldContent

TEXT_FIELDS = ("requirement", "issue_type", "severity", "field", "message", "suggested_fix")


class MicroCounts(CountsDetail):
    """The counts of all cases together, and their shares."""

    recall: float
    precision: float
    f1: float


class IssueAggregate(TypedDict):
    """What a run stores next to ``issue_f1``."""

    micro: MicroCounts
    breakdowns: list[Breakdown]


class Validation(GoldLayer):
    name = "validation"
    headline = ("issue_f1", "issue_recall", "issue_precision")
    groups = (
        (msgid("Labels found"), headline),
        (msgid("Fields of matched labels"), ("severity_accuracy",)),
        (msgid("Personal data"), ("pii_f1", "pii_recall", "pii_precision")),
    )
    log = ("issue_recall", "issue_precision")
    shown = (
        *("requirement", "issue_type", "field", "severity", "span"),
        *("message", "suggested_fix"),
    )
    suggested = True

    def requirements(self, content: GoldContent) -> list[Label]:
        return given_requirements(content)

    def check(self, output: Mapping[str, Any], *, message_count: int) -> None:
        for path, label in checks.labels(output, self.key):
            check_issue(label, path)

    def score(self, example: Example, context: Context) -> dict[str, Value]:
        return score_validation(example.gold, self.predicted(example.output), ruler=context.ruler)

    def details(self, scored: Sequence[Scored], context: Context) -> AggregateDetails:
        by_type = recall_by(scored, "issue_f1", "issue_type", "Issue type")
        groups = standard(self, scored, title="F1", metric="issue_f1", labels=by_type)
        f1: IssueAggregate = {"micro": _micro(scored), "breakdowns": groups}
        return {"issue_f1": f1}


def check_issue(label: Any, path: str) -> None:
    checks.mapping(label, path)
    for field in TEXT_FIELDS:
        checks.text(label.get(field), f"{path}.{field}")
    checks.integers(label.get("source_messages") or [], f"{path}.source_messages")
    span = label.get("span")
    if span is not None:
        _check_span(span, f"{path}.span")


def _check_span(span: Any, path: str) -> None:
    """The matcher compares the places of pieces of text."""
    checks.mapping(span, path)
    start, end = span.get("start"), span.get("end")
    if type(start) is not int or type(end) is not int or not 0 <= start < end:
        raise MalformedOutput("output.no_span", path=path)
    if not isinstance(span.get("text"), str):
        raise MalformedOutput("output.no_text", path=f"{path}.text")


def _micro(scored: Sequence[Scored]) -> MicroCounts:
    """Over all cases together."""
    counts = pooled(
        lost(len(case.example.gold)) if case.failed else Counts.read(case.values["issue_f1"].detail)
        for case in scored
    )
    return {
        **counts.detail,
        "recall": counts.recall,
        "precision": counts.precision,
        "f1": counts.f1,
    }
