"""Q1: the kind of question, about whom, about when, and how long an answer should be."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Literal

from pipelines.memory.dates import Days, days_in
from pipelines.memory.query.talk import Talk

QueryType = Literal["arc_narrative", "event_retrieval", "time_point", "phase_query"]
ScopeKind = Literal["global", "time_bounded", "topic_bounded"]
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
_WHEN = re.compile(
    r"^\s*(?:when|since when|(?:on |in )?(?:what|which) (?:date|day|month|year|time)|how long)\b",
    re.I,
)
_COUNT = re.compile(r"\bhow (?:many|much|often)\b", re.I)
_YES_NO = re.compile(
    r"^\s*(?:is|are|was|were|do|does|did|has|have|had|can|could|will|would|might|may|should)\b",
    re.I,
)
_WHY = re.compile(r"\b(?:why|what (?:made|caused|reason))\b", re.I)
_MANY = re.compile(
    r"\b(?:what|which|whose)(?: are| were| kinds? of| types? of| other| different| new)*"
    r"(?: [\w'-]+){0,4}? (?!was\b|is\b|does\b|has\b|his\b|this\b)[\w-]{2,}[^s\W]s\b",
    re.I,
)
_BOTH = re.compile(r"\b(?:both|each other|in common|share[sd]?|together|similar)\b", re.I)


@dataclass(frozen=True, slots=True)
class Scope:
    kind: ScopeKind
    time_hint: str | None = None
    topic_hint: str | None = None


@dataclass(frozen=True, slots=True)
class Intent:
    query_type: QueryType
    focus_dimensions: tuple[str, ...]
    time_range: Days | None
    scope: Scope
    output_mode: OutputMode
    people: tuple[str, ...] = ()
    """Speakers asked about, as they are stored."""
    both: bool = False
    shape: str = "other"
    """How it is asked: when, count, yes_no, why, many or other."""

    def as_json(self) -> Mapping[str, object]:
        days = self.time_range
        return asdict(self) | {
            "focus_dimensions": list(self.focus_dimensions),
            "people": list(self.people),
            "time_range": [day.isoformat() for day in days] if days else None,
        }


def read_intent(question: str, talk: Talk, *, task: str = "") -> Intent:
    """By wording alone; ``task`` is the layer asked for and settles what wording leaves open."""
    people = talk.about(question)
    kind = _query_type(question, task)
    days = days_in(question, span=talk.span)
    shape = _shape(question)
    both = len(people) > 1 or bool(_BOTH.search(question))
    return Intent(
        query_type=kind,
        focus_dimensions=_focus(question),
        time_range=days,
        scope=_scope(question, kind, days),
        output_mode=_output_mode(kind, shape, both=both),
        people=people,
        both=both,
        shape=shape,
    )


def _query_type(question: str, task: str) -> QueryType:
    if task == "arc" or (_ARC.search(question) and re.match(r"\s*how\b", question, re.I)):
        return "arc_narrative"
    if _PHASE.search(question):
        return "phase_query"
    return "time_point" if _WHEN.match(question) else "event_retrieval"


def _focus(question: str) -> tuple[str, ...]:
    named = [name for name, cue in _FOCUS.items() if re.search(rf"\b(?:{cue})", question, re.I)]
    return tuple(named) or USUAL_FOCUS


def _scope(question: str, kind: QueryType, days: Days | None) -> Scope:
    topic = topic_of(question) or None
    if days is not None:
        hint = f"{days.first.isoformat()}/{days.last.isoformat()}"
        return Scope("time_bounded", time_hint=hint, topic_hint=topic)
    if kind == "arc_narrative" or topic is None:
        return Scope("global", topic_hint=topic)
    return Scope("topic_bounded", topic_hint=topic)


def _output_mode(kind: QueryType, shape: str, *, both: bool) -> OutputMode:
    if kind in ("arc_narrative", "phase_query"):
        return "narrative"
    if both or shape in ("many", "count", "why"):
        return "summary"
    return "fact"


def _shape(question: str) -> str:
    if _COUNT.search(question):
        return "count"
    if _WHEN.match(question):
        return "when"
    if _YES_NO.match(question):
        return "yes_no"
    if _WHY.search(question):
        return "why"
    return "many" if _MANY.search(question) else "other"


def topic_of(question: str) -> str:
    """The words of a question that carry its subject, in their order."""
    words = re.findall(r"[\w'-]+", question)
    return " ".join(word for word in words if not _DULL.fullmatch(word) and len(word) > 1)


_DULL = re.compile(
    r"what|which|who|whom|whose|when|where|why|how|did|do|does|done|is|are"
    r"|was|were|be|been|being|has|have|had|will|would|can|could|may|might"
    r"|should|shall|the|and|or|of|in|on|at|to|for|from|with|by|about|into"
    r"|over|after|before|during|until|since|as|than|that|this|these|those|it"
    r"|its|his|her|hers|him|he|she|they|them|their|both|each|other|another|any"
    r"|some|many|much|times|time|often|long|there|not|no|yes|kind|kinds|type"
    r"|types",
    re.I,
)
