"""The whole way from a conversation to a requirements document."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from evaluation.layers import checks
from evaluation.layers.base import (
    AggregateDetails,
    Context,
    Example,
    GoldLayer,
    MalformedOutput,
    Scored,
)
from evaluation.layers.breakdown import recall_by, standard
from evaluation.layers.extraction import STATED, check_fields
from evaluation.layers.inference import check_inferred
from evaluation.layers.validation import check_issue
from evaluation.metrics.alignment import AlignmentRow
from evaluation.metrics.document import DocumentDetail, score_document
from evaluation.metrics.items import Counts, ExtractionDetail, score_extraction
from evaluation.metrics.registry import Value
from labeling.domain.msgids import msgid

SCORE = "rd_score"


class AlignedDocument(DocumentDetail):
    """What explains ``rd_score`` of a case."""

    alignment: list[AlignmentRow]


class EndToEnd(GoldLayer):
    """Its gold holds requirements, inferred requirements and issues; the document is scored."""

    name = "end_to_end"
    matched = True
    headline = (SCORE, "rd_coverage", "rd_accuracy")
    groups = ((msgid("The document"), (*headline, "rd_structure", "rd_traceability")),)
    log = ("rd_coverage", "rd_accuracy")
    shown = STATED
    by_people = False

    @property
    def key(self) -> str:
        return "requirements"

    def check(self, output: Mapping[str, Any], *, message_count: int) -> None:
        """Messages that do not exist may pass: they cost traceability."""
        for path, label in checks.labels(output, self.key):
            check_fields(label, path)
            checks.integers(label.get("source_messages") or [], f"{path}.source_messages")
        for path, label in _beside(output, "inferred_requirements"):
            check_inferred(label, path)
        for path, label in _beside(output, "issues"):
            check_issue(label, path)
        check_document(output.get("document"))

    def score(self, example: Example, context: Context) -> dict[str, Value]:
        stated = self.predicted(example.output)
        extraction = score_extraction(
            example.gold, stated, threshold=context.threshold, **context.matching
        )
        aligned: ExtractionDetail = extraction["requirement_f1"].detail
        document_scores = score_document(
            Counts.read(aligned),
            stated,
            (example.output or {}).get("document"),
            message_count=len(example.messages),
        )
        score = document_scores[SCORE]
        detail_of_document: DocumentDetail = score.detail
        detail: AlignedDocument = {**detail_of_document, "alignment": aligned["alignment"]}
        return document_scores | {SCORE: Value(score.value, detail=detail)}

    def details(self, scored: Sequence[Scored], context: Context) -> AggregateDetails:
        by_type = recall_by(scored, SCORE, "type", "Type")
        groups = standard(self, scored, title="Document score", metric=SCORE, labels=by_type)
        return {SCORE: {"breakdowns": groups}}


def _beside(output: Mapping[str, Any], key: str) -> Iterable[tuple[str, Any]]:
    return checks.labels(output, key) if output.get(key) is not None else ()


def check_document(document: Any) -> None:
    if document is None:
        return
    checks.mapping(document, "document")
    checks.text(document.get("notice"), "document.notice")
    for path, section in checks.labels(document, "sections"):
        checks.mapping(section, f"document.{path}")
        if not isinstance(section.get("id"), str):
            raise MalformedOutput("output.no_text", path=f"document.{path}.id")
        checks.text(section.get("title"), f"document.{path}.title")
        checks.text(section.get("body"), f"document.{path}.body")
