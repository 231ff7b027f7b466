"""Q1: the kind of question, about when, and how long an answer should be."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Literal

from pipelines.memory.dates import Days, days_in
from pipelines.memory.shape import asks_both, shape_of

QueryType = Literal["arc_narrative", "event_retrieval", "time_point", "phase_query"]
OutputMode = Literal["narrative", "fact", "summary"]

USUAL_FOCUS = ("emotional_tone", "conflict_intensity", "silence_event")

_FOCUS = {
    "reply_delay": r"repl(?:y|ies)|respond|answer(?:s|ed)? (?:late|slow)|wait(?:ed)? for",
    "term_shift": r"nickname|pet name|call(?:s|ed)? (?:him|her|each other)",
    "silence_event": r"silen|stopp?(?:ed|s)? (?:talking|writing)|pause|disappear|ghost",
    "topic_frequency": r"how often|frequent|keep(?:s)? (?:talking|mentioning)|most discussed",
    "initiator_ratio": r"initiat|starts? (?:the )?(?:conversation|talk)|writes? first",
    "emotional_tone": r"feel|felt|mood|emotion|happy|sad|upset|excite|stress|cope|heal|love",
    "conflict_intensity": r"conflict|fight|argu|quarrel|disagree|angry|break ?up|jealous",
}
_ARC = re.compile(
    r"\b(?:evolve|unfold|develop(?:ed|ment)?|progress|transition|transform|journey|arc|grow|grew"
    r"|throughout|over time|over the (?:conversations?|course|weeks|months)|across the"
    r"|from .{3,60} to .{3,60}|story of|change(?:d)? (?:over|through|between|since))\b",
    re.I,
)
_PHASE = re.compile(
    r"\b(?:at first|initially|early on|(?:first|last|final|early|later|second|third) (?:phase|stage|part)"  # noqa: E501
    r"|in the (?:beginning|end)|at the (?:beginning|end|start) of (?:the|their))\b",
    re.I,
)


@dataclass(frozen=True, slots=True)
class Intent:
    query_type: QueryType
    focus_dimensions: tuple[str, ...]
    time_range: Days | None
    output_mode: OutputMode
    shape: str = "other"
    """How it is asked: when, count, yes_no, why, many or other."""

    def as_json(self) -> Mapping[str, object]:
        days = self.time_range
        return asdict(self) | {
            "focus_dimensions": list(self.focus_dimensions),
            "time_range": [day.isoformat() for day in days] if days else None,
        }


def read_intent(question: str, *, span: Days | None = None, task: str = "") -> Intent:
    """By wording alone; ``task`` is the layer asked for and settles what wording leaves open."""
    kind, shape = _query_type(question, task), shape_of(question)
    return Intent(
        query_type=kind,
        focus_dimensions=_focus(question),
        time_range=days_in(question, span=span),
        output_mode=_output_mode(kind, shape, both=asks_both(question)),
        shape=shape,
    )


def _query_type(question: str, task: str) -> QueryType:
    if task == "arc" or (_ARC.search(question) and re.match(r"\s*how\b", question, re.I)):
        return "arc_narrative"
    if _PHASE.search(question):
        return "phase_query"
    return "time_point" if shape_of(question) == "when" else "event_retrieval"


def _focus(question: str) -> tuple[str, ...]:
    named = [name for name, cue in _FOCUS.items() if re.search(rf"\b(?:{cue})", question, re.I)]
    return tuple(named) or USUAL_FOCUS


def _output_mode(kind: QueryType, shape: str, *, both: bool) -> OutputMode:
    if kind in ("arc_narrative", "phase_query"):
        return "narrative"
    if both or shape in ("many", "count", "why"):
        return "summary"
    return "fact"
