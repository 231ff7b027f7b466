"""What the nodes hand on: requirements, issues, the document, and a step of the trace."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple, NotRequired, TypedDict

FIELDS = ("title", "actor", "action", "condition", "acceptance_criteria", "rationale")
"""The fields that hold a writer's own words."""


MAX_CHARACTERS = 20_000  # of one field; the rest of a longer one is not read


class Requirement(TypedDict, total=False):
    """Stated or inferred. One that people wrote may lack any field."""

    id: str
    uid: str
    title: str
    type: str
    actor: str
    action: str
    quoted: bool
    """The action quotes what was said, for it could not be put in other words with certainty."""
    condition: str | None
    acceptance_criteria: list[str]
    priority: str
    rationale: str
    confidence: float
    """How likely a reader can use it as it is worded."""
    wanted: float
    """How likely it is wanted; of what was extracted without a language model, the same."""
    source_messages: list[int]
    """Of stated ones: positions of messages."""
    inference_type: str
    """Of inferred ones, like the two that follow."""
    triggered_by: list[str]
    necessity: str


class Place(TypedDict):
    """Words within the text of a field."""

    start: int
    end: int
    text: str


class Issue(TypedDict):
    requirement: str
    issue_type: str
    severity: str
    field: str
    span: Place | None
    message: str
    suggested_fix: str


class WrittenSection(TypedDict):
    id: str
    title: str
    body: str
    """Markdown; empty where nothing was said about it."""


class Document(TypedDict):
    title: str
    notice: NotRequired[str]
    """What has to be read before anything else."""
    sections: list[WrittenSection]


class LeftOut(TypedDict):
    """What somebody named and nobody wants, or no more."""

    what: str
    why: str
    messages: list[int]


_From = TypedDict("_From", {"from": int}, total=False)


class Notes(_From, total=False):
    """How a node came to its labels; each node notes what it knows."""

    sentences: int
    commitments: int
    standing: int
    kept: int
    foreign: bool
    of: int
    unusable: int
    """Requirements of which nobody could build or test anything."""
    unplaced: int
    unknown_ids: int
    kinds: dict[str, int]
    parts: int
    changes: dict[str, int]
    """By a later part: repeated, corrected, withdrawn, refused; and proposals without a yes."""
    left_out: list[LeftOut]
    """What was refused, withdrawn, never answered or only complained about."""
    examples: list[str]
    """Conversations of whose gold the model was shown a label."""
    prompt: str
    model: str


class Step(Notes, total=False):
    """One node of the way, for the trace. ``found`` counts its labels."""

    node: str
    found: int
    sections: int
    empty: list[str]


def name_of(requirement: Mapping[str, Any]) -> str:
    """By which labels refer to it: the name that people gave it, else its number."""
    return str(requirement.get("uid") or requirement.get("id") or "")


def sureness_of(requirement: Mapping[str, Any]) -> float | None:
    """How surely it is wanted; of one that does not say so, the confidence that it states."""
    wanted = requirement.get("wanted")
    return requirement.get("confidence") if wanted is None else wanted


def text_of(requirement: Requirement) -> str:
    """What it is about; the same text that requirements are compared by."""
    return f"{requirement.get('title') or ''} {requirement.get('action') or ''}".strip()


def field_text(requirement: Requirement, field: str) -> str:
    """A field as one text; several lines are joined by line feeds."""
    value = requirement.get(field)
    if isinstance(value, list | tuple):
        return "\n".join(map(str, value))[:MAX_CHARACTERS]
    return "" if value is None else str(value)[:MAX_CHARACTERS]


SEVERITIES = {
    "pii": "error",
    "contradictory": "error",
    "missing_actor": "error",
    "ambiguous_verb": "warning",
    "too_broad": "warning",
    "untestable": "warning",
}


class Flaw(NamedTuple):
    """What is wrong in a field, and what to do about it."""

    issue_type: str
    field: str
    place: tuple[int, int] | None
    """Where the words are in the field's text; none where something is missing."""
    message: str
    fix: str


def issue(requirement: Requirement, flaw: Flaw) -> Issue:
    span: Place | None = None
    if flaw.place is not None:
        start, end = flaw.place
        span = {"start": start, "end": end, "text": field_text(requirement, flaw.field)[start:end]}
    return {
        "requirement": name_of(requirement),
        "issue_type": flaw.issue_type,
        "severity": SEVERITIES[flaw.issue_type],
        "field": flaw.field,
        "span": span,
        "message": flaw.message,
        "suggested_fix": flaw.fix,
    }
