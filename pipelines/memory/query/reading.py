"""The same three judgements by a language model: prompts in files, replies parsed strictly."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from datetime import date
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from pipelines.llm import ChatModel, InvalidReply
from pipelines.memory.config import MemoryConfig
from pipelines.memory.dates import Days
from pipelines.memory.layers.nodes import SIGNALS
from pipelines.memory.prompts import ask
from pipelines.memory.query.candidates import Candidates, Search, best_of
from pipelines.memory.query.intent import USUAL_FOCUS, Intent, read_intent
from pipelines.memory.query.mind import PhasedAnswer, Plan, Verdict
from pipelines.memory.query.phases import Phase, bounds, node_summaries, shown
from pipelines.memory.query.questions import SubQuestion
from pipelines.memory.query.talk import Talk

PREVIEW = 8
ASKED_NEXT = 3


class _Reply(BaseModel):
    model_config = ConfigDict(extra="ignore", strict=True)


class IntentReply(_Reply):
    query_type: Literal["arc_narrative", "event_retrieval", "time_point", "phase_query"]
    focus_dimensions: list[str]
    output_mode: Literal["fact", "summary", "narrative"]
    time_range: list[str] | None
    sub_questions: list[str]


class Support(_Reply):
    id: int
    support: float = Field(ge=0, le=1)


class GradeReply(_Reply):
    relevant: list[Support]
    sufficient: bool
    missing: list[str]


class PhaseReply(_Reply):
    title: str
    summary: str
    evidence: list[int]


class PhasesReply(_Reply):
    phases: list[PhaseReply]
    answer: str | None


class ModelMind:
    """The model does everything that takes understanding; ids are checked here."""

    def __init__(self, config: MemoryConfig, model: ChatModel) -> None:
        self._config = config
        self._model = model

    def plan(self, question: str, talk: Talk, *, task: str) -> Plan:
        reply = ask(
            self._model,
            "intent",
            IntentReply,
            people={speaker: list(names) for speaker, names in talk.people.items()},
            days=[day.isoformat() for day in talk.span] if talk.span else None,
            question=question,
        )
        intent = _with_reply(read_intent(question, talk, task=task), reply)
        parts = tuple(SubQuestion(text, "slot") for text in reply.sub_questions[:4] if text.strip())
        return Plan(intent, parts, fast=intent.output_mode == "fact" and not parts)

    def grade(
        self, question: str, talk: Talk, plan: Plan, searches: Sequence[Search], *, looks: int
    ) -> Verdict:
        chances = best_of(searches)
        best = sorted(chances, key=lambda at: (-chances[at], at))
        read = sorted(best[: self._config.shown_limit * looks])
        messages = [shown(talk, position) for position in read]
        reply = ask(self._model, "grade", GradeReply, question=question, messages=messages)
        known = {row.id - 1: row.support for row in reply.relevant if row.id - 1 in set(read)}
        return Verdict(
            chances=known,
            shown=tuple(read),
            sufficient=reply.sufficient,
            missing=tuple(reply.missing),
            questions=tuple(SubQuestion(text, "slot") for text in reply.missing[:ASKED_NEXT]),
            unknown_ids=len({row.id for row in reply.relevant}) - len(known),
        )

    def answer(
        self, question: str, talk: Talk, plan: Plan, candidates: Candidates, verdict: Verdict
    ) -> PhasedAnswer:
        least, most = bounds(plan.intent)
        topics = node_summaries(talk, candidates, verdict.chances, preview=PREVIEW)
        reply = ask(
            self._model,
            "phases",
            PhasesReply,
            question=question,
            topics=topics,
            least=least,
            most=most,
        )
        seen = sorted({local - 1 for topic in topics for local in topic["all_message_ids"]})
        return _checked(reply, seen, verdict)


def _with_reply(intent: Intent, reply: IntentReply) -> Intent:
    """The model's reading of the question; people and words stay as the rules read them."""
    from dataclasses import replace

    focus = tuple(name for name in reply.focus_dimensions if name in SIGNALS)
    return replace(
        intent,
        query_type=reply.query_type,
        focus_dimensions=focus or USUAL_FOCUS,
        output_mode=reply.output_mode,
        time_range=_days(reply.time_range) or intent.time_range,
    )


def _days(pair: list[str] | None) -> Days | None:
    if pair is None:
        return None
    try:
        first, last = (date.fromisoformat(day) for day in pair)
    except ValueError as error:
        raise InvalidReply("reply.no_pair_of_days", days=pair) from error
    return Days(min(first, last), max(first, last))


def _checked(reply: PhasesReply, seen: Collection[int], verdict: Verdict) -> PhasedAnswer:
    """Ids that were not shown are left out and counted; so is a phase that has no others."""
    known = set(seen)
    phases = [
        Phase(
            phase.title,
            tuple(sorted({at for at in _positions(phase) if at in known})),
            phase.summary,
        )
        for phase in reply.phases
    ]
    named = {position for phase in reply.phases for position in _positions(phase)}
    chosen = sorted(named & known, key=lambda at: (-verdict.chances.get(at, 0.0), at))
    return PhasedAnswer(
        phases=tuple(phase for phase in phases if phase.evidence),
        chosen=tuple(chosen),
        answer=reply.answer,
        shown=tuple(sorted(known)),
        unknown_ids=len(named - known),
    )


def _positions(phase: PhaseReply) -> Iterable[int]:
    return (local - 1 for local in phase.evidence)
