"""What a model must reply, as JSON schemas.

They name exactly the messages and requirements that the model was shown, so that an invented one is
noticed like any other mistake: the model gets the reason and is asked again.
"""

from __future__ import annotations

from collections.abc import Sequence

from pipelines.requirements.labels import FIELDS
from pipelines.types import JsonSchema

Schema = JsonSchema

TYPES = ("functional", "non-functional", "security", "data", "interface", "constraint")
PRIORITIES = ("must", "should", "could")
INFERENCE_TYPES = ("security", "performance", "scalability", "compliance", "usability")
NECESSITIES = ("necessary", "recommended", "optional")
ISSUE_TYPES = (
    "ambiguous_verb",
    "missing_actor",
    "too_broad",
    "contradictory",
    "pii",
    "untestable",
)
SEVERITIES = ("error", "warning", "info")
ISSUE_FIELDS = (*FIELDS, "type", "priority", "source_messages")
NARRATED = ("overview", "stakeholders", "use_cases", "data_model", "edge_cases")
"""The sections of a document that have prose before what is listed in them."""

HOW = ("stated", "proposed", "summed_up")
LEFT_OUT = ("refused", "withdrawn", "unanswered", "complaint")
CHANGES = ("repeated", "corrected", "withdrawn", "refused")

TEXT: Schema = {"type": "string", "pattern": r"\S"}
OPEN_TEXT: Schema = {"type": ["string", "null"]}
SHARE: Schema = {"type": "number", "minimum": 0, "maximum": 1}


def extraction(first: int, last: int, refs: Sequence[str]) -> Schema:
    """Of the messages ``first`` to ``last``; ``refs`` are the handles of what stands already."""
    position = {"type": "integer", "minimum": first, "maximum": last}
    positions = {"type": "array", "items": position, "minItems": 1}
    added = {
        "source_messages": positions,
        "how": _one_of(HOW),
        "accepted_in": {**position, "type": ["integer", "null"]},
    }
    changed = {
        "ref": _one_of(refs),
        "change": _one_of(CHANGES),
        "messages": positions,
        "title": OPEN_TEXT,
        "action": OPEN_TEXT,
        "condition": OPEN_TEXT,
        "acceptance_criteria": {"type": "array", "items": TEXT},
    }
    left_out = {"what": TEXT, "why": _one_of(LEFT_OUT), "messages": positions}
    lists = _list_of("requirements", _text_fields() | added)["properties"]
    lists |= _list_of("left_out", left_out)["properties"]
    if refs:
        lists |= _list_of("changes", changed)["properties"]
    return _object(lists)


def inference(refs: Sequence[str]) -> Schema:
    named = {
        "inference_type": _one_of(INFERENCE_TYPES),
        "triggered_by": {"type": "array", "items": _one_of(refs), "minItems": 1},
        "necessity": _one_of(NECESSITIES),
    }
    return _list_of("inferred_requirements", _text_fields() | named)


def validation(refs: Sequence[str]) -> Schema:
    fields = {
        "requirement": _one_of(refs),
        "issue_type": _one_of(ISSUE_TYPES),
        "severity": _one_of(SEVERITIES),
        "field": _one_of(ISSUE_FIELDS),
        "words": OPEN_TEXT,
        "message": TEXT,
        "suggested_fix": TEXT,
    }
    return _list_of("issues", fields)


def document() -> Schema:
    return _object({"title": TEXT} | {name: {"type": "string"} for name in NARRATED})


def _text_fields() -> Schema:
    """Those that stated and inferred requirements share."""
    return {
        "title": TEXT,
        "type": _one_of(TYPES),
        "actor": TEXT,
        "action": TEXT,
        "condition": OPEN_TEXT,
        "acceptance_criteria": {"type": "array", "items": TEXT},
        "priority": _one_of(PRIORITIES),
        "rationale": TEXT,
        "confidence": SHARE,
    }


def _list_of(key: str, fields: Schema) -> Schema:
    return _object({key: {"type": "array", "items": _object(fields)}})


def _object(fields: Schema) -> Schema:
    return {"type": "object", "properties": fields, "required": list(fields)}


def _one_of(values: Sequence[str]) -> Schema:
    return {"type": "string", "enum": list(values)}
