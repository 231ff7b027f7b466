"""How good a requirements document is: what it covers, how right, how whole, how traceable.

RDScore = 0.4 coverage + 0.3 accuracy + 0.2 structure + 0.1 traceability, each in [0, 1]. The
definitions are in templates/docs/metrics.md, "End to end".
"""

from collections.abc import Mapping, Sequence
from math import fsum
from typing import Any

from evaluation.metrics.items import Counts, CountsDetail
from evaluation.metrics.registry import Value
from labeling.agreement.matching.matching import Record, criteria
from labeling.schema import Requirement
from labeling.schema.fields import MIN_CRITERIA


class DocumentDetail(CountsDetail):
    """What a document lacks: sections, and requirements by position."""

    missing_sections: list[str]
    incomplete: list[int]
    untraced: list[int]


WEIGHTS = {"rd_coverage": 0.4, "rd_accuracy": 0.3, "rd_structure": 0.2, "rd_traceability": 0.1}

SECTIONS = (
    "overview",
    "stakeholders",
    "use_cases",
    "functional",
    "non_functional",
    "data_model",
    "security_compliance",
    "interfaces",
    "edge_cases",
    "acceptance_tests",
    "traceability",
)
"""The eleven sections that a requirements document must have, by their ids."""

MANDATORY = tuple(
    name
    for name, field in Requirement.model_fields.items()
    if field.is_required() and name not in ("uid", "acceptance_criteria")
)
"""What every requirement of the document must say, in addition to its acceptance criteria."""


def score_document(
    counts: Counts,
    requirements: Sequence[Record],
    document: Mapping[str, Any] | None,
    *,
    message_count: int,
) -> dict[str, Value]:
    """The score of one document and its four parts.

    Parameters
    ----------
    counts
        Of the requirements that the document states, matched with gold as for extraction.
    requirements
        Those requirements. Inferred ones don't cite messages and are not included.
    document
        ``{"sections": [{"id", "body", …}, …]}``; ``None`` if none was written.
    message_count
        Of the conversation, so that cited messages can be looked up.

    Returns
    -------
    dict of Value
        ``rd_score`` and its parts. A document without requirements is judged by its sections
        alone and traces nothing, unless gold is empty too: then both shares of nothing are 1.
    """
    present = sections_present(document)
    complete = [is_complete(requirement) for requirement in requirements]
    traced = [is_traced(requirement, message_count=message_count) for requirement in requirements]
    share = len(present) / len(SECTIONS)
    nothing_to_state = not counts.gold and not requirements
    structure = fsum([share, _share(complete)]) / 2 if complete or nothing_to_state else share
    parts = {
        "rd_coverage": counts.recall,
        "rd_accuracy": counts.precision,
        "rd_structure": structure,
        "rd_traceability": _share(traced) if traced or nothing_to_state else 0.0,
    }
    detail: DocumentDetail = {
        "missing_sections": [name for name in SECTIONS if name not in present],
        "incomplete": [at for at, whole in enumerate(complete) if not whole],
        "untraced": [at for at, is_whole in enumerate(traced) if not is_whole],
        **counts.detail,
    }
    score = fsum(weight * parts[name] for name, weight in WEIGHTS.items())
    return {
        "rd_score": Value(score, detail=detail),
        **{name: Value(value) for name, value in parts.items()},
    }


def sections_present(document: Mapping[str, Any] | None) -> set[str]:
    """The required sections that the document has and that say something.

    Examples
    --------
    >>> sections_present({"sections": [{"id": "overview", "body": "A shop."}, {"id": "x"}]})
    {'overview'}
    """
    sections = (document or {}).get("sections") or []
    return {
        section["id"]
        for section in sections
        if section["id"] in SECTIONS and _says(section.get("body"))
    }


def is_complete(requirement: Record) -> bool:
    """Every mandatory field says something, and there are at least two acceptance criteria."""
    stated = sum(bool(text.strip()) for text in criteria(requirement))
    return stated >= MIN_CRITERIA and all(_says(requirement.get(name)) for name in MANDATORY)


def is_traced(requirement: Record, *, message_count: int) -> bool:
    """It cites at least one message, and every one that it cites exists."""
    cited = requirement.get("source_messages") or []
    return bool(cited) and all(0 <= index < message_count for index in cited)


def _says(value: Any) -> bool:
    if isinstance(value, str):
        return bool(value.strip())
    return value is not None and value != []


def _share(flags: Sequence[bool]) -> float:
    """1 of nothing: the caller has ruled out that something is missing."""
    return sum(flags) / len(flags) if flags else 1.0
