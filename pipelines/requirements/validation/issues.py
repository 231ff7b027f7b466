"""One issue, as the labels of validation are written."""

from __future__ import annotations

from typing import Any

from pipelines.requirements.wording import Requirement, field_text, name_of

Issue = dict[str, Any]

SEVERITIES = {
    "pii": "error",
    "contradictory": "error",
    "missing_actor": "error",
    "ambiguous_verb": "warning",
    "too_broad": "warning",
    "untestable": "warning",
}


def issue(
    requirement: Requirement,
    issue_type: str,
    field: str,
    *,
    message: str,
    fix: str,
    place: tuple[int, int] | None = None,
) -> Issue:
    """``place`` is where the words stand in the field's text; none where something is missing."""
    return {
        "requirement": name_of(requirement),
        "issue_type": issue_type,
        "severity": SEVERITIES[issue_type],
        "field": field,
        "span": _span(field_text(requirement, field), place),
        "message": message,
        "suggested_fix": fix,
    }


def _span(text: str, place: tuple[int, int] | None) -> dict[str, Any] | None:
    if place is None:
        return None
    start, end = place
    return {"start": start, "end": end, "text": text[start:end]}
