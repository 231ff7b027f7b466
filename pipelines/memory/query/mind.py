"""The three judgements that a question needs, each by rules and weights or by a language model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from pipelines.memory.config import MemoryConfig
from pipelines.memory.query.candidates import Candidates, Search, rank_nodes
from pipelines.memory.query.evidence import weigh
from pipelines.memory.query.intent import Intent, read_intent
from pipelines.memory.query.phases import Phase, bounds, one_phase, story_phases
from pipelines.memory.query.questions import SubQuestion, sub_questions
from pipelines.memory.query.selection import Worth, choose
from pipelines.memory.query.talk import Talk, local_ids

SURE = 0.5
"""A fact counts as found when one message is at least as likely as not to state it."""
THIN = 0.15
ENOUGH = 0.6
QUARTERS = 4
NODES_IN_A_QUARTER = 2
MESSAGES_IN_RANGE = 5
STORY_CHEAPER = 4.0
"""A story takes more messages than a fact: each may cost that much less."""


@dataclass(frozen=True, slots=True)
class Plan:
    intent: Intent
    sub_questions: tuple[SubQuestion, ...] = ()
    fast: bool = False
    """A plain fact: answered from the first look when that is sure enough."""

    def as_json(self) -> Mapping[str, object]:
        parts = [{"text": part.text, "why": part.why} for part in self.sub_questions]
        return {"intent": self.intent.as_json(), "sub_questions": parts, "fast": self.fast}


@dataclass(frozen=True, slots=True)
class Verdict:
    """An assessment of the evidence so far."""

    chances: dict[int, float]
    """Chance of each candidate to be evidence, by position."""
    shown: tuple[int, ...]
    sufficient: bool
    missing: tuple[str, ...] = ()
    questions: tuple[SubQuestion, ...] = ()
    """What to ask next for what is missing."""
    unknown_ids: int = 0
    """How many ids a model named without having been shown them."""

    @property
    def ranked(self) -> list[int]:
        """The best first, equal ones in the order of the chat."""
        return sorted(sorted(self.chances), key=self.chances.__getitem__, reverse=True)

    def as_json(self) -> Mapping[str, object]:
        best = self.ranked[:10]
        return {
            "sufficient": self.sufficient,
            "missing": list(self.missing),
            "best": {"ids": local_ids(best), "scores": [round(self.chances[at], 4) for at in best]},
            "shown": len(self.shown),
            "unknown_ids": self.unknown_ids,
        }


@dataclass(frozen=True, slots=True)
class PhasedAnswer:
    """Phases with their evidence; in ``chosen`` all of it, the best first."""

    phases: tuple[Phase, ...]
    chosen: tuple[int, ...]
    answer: str | None = None
    shown: tuple[int, ...] = ()
    unknown_ids: int = 0

    def as_json(self) -> Mapping[str, object]:
        return {
            "phases": len(self.phases),
            "evidence": local_ids(self.chosen),
            "shown": len(self.shown),
            "unknown_ids": self.unknown_ids,
        }


class Mind(Protocol):
    def plan(self, question: str, talk: Talk, *, task: str) -> Plan: ...

    def grade(
        self, question: str, talk: Talk, plan: Plan, searches: Sequence[Search], *, looks: int
    ) -> Verdict: ...

    def answer(
        self, question: str, talk: Talk, plan: Plan, candidates: Candidates, verdict: Verdict
    ) -> PhasedAnswer: ...


class LocalMind:
    """By wording, trained weights and expected worth; no language model."""

    def __init__(self, config: MemoryConfig) -> None:
        self._config = config

    def plan(self, question: str, talk: Talk, *, task: str) -> Plan:
        intent = read_intent(question, talk, task=task)
        parts = sub_questions(question, intent, talk)
        fast = intent.output_mode == "fact" and not parts and len(intent.people) < 2
        return Plan(intent, parts, fast)

    def grade(
        self, question: str, talk: Talk, plan: Plan, searches: Sequence[Search], *, looks: int
    ) -> Verdict:
        chances = weigh(talk, plan.intent, searches)
        missing = self.misses(talk, plan, searches, chances)
        shown = tuple(sorted(chances, key=lambda at: (-chances[at], at)))
        return Verdict(chances, shown, not missing, missing)

    def answer(
        self, question: str, talk: Talk, plan: Plan, candidates: Candidates, verdict: Verdict
    ) -> PhasedAnswer:
        chosen = self.chosen(plan.intent, verdict)
        if plan.intent.output_mode != "narrative":
            phase = one_phase(question, chosen)
            return PhasedAnswer(tuple(phase), tuple(chosen), shown=verdict.shown)
        least, _most = bounds(plan.intent)
        phases = story_phases(talk, verdict.chances, chosen, least=least)
        in_phases = {position for phase in phases for position in phase.evidence}
        in_order = tuple(position for position in verdict.ranked if position in in_phases)
        return PhasedAnswer(tuple(phases), in_order, shown=verdict.shown)

    def chosen(self, intent: Intent, verdict: Verdict) -> list[int]:
        ranked = verdict.ranked
        chances = [verdict.chances[position] for position in ranked]
        return ranked[: choose(chances, self._worth(intent), expected=sum(chances))]

    def _worth(self, intent: Intent) -> Worth:
        least, most = bounds(intent)
        story = intent.output_mode == "narrative"
        return Worth(
            precision=self._config.precision_weight,
            price=self._config.price / (STORY_CHEAPER if story else 1),
            least=least * (3 if story else 1),
            most=most * (3 if story else 1),
        )

    def misses(
        self, talk: Talk, plan: Plan, searches: Sequence[Search], chances: dict[int, float]
    ) -> tuple[str, ...]:
        """What is still missing, each as a short phrase."""
        missing = list(_thin_parts(searches))
        if plan.intent.output_mode == "fact":
            if max(chances.values(), default=0.0) < SURE:
                missing.append("a sure message")
        elif plan.intent.output_mode == "narrative":
            missing += _empty_quarters(talk, chances)
        else:
            worth = choose(
                sorted(chances.values(), reverse=True),
                self._worth(plan.intent),
                expected=sum(chances.values()),
            )
            expected = sum(sorted(chances.values(), reverse=True)[:worth])
            if expected < ENOUGH * sum(chances.values()):
                missing.append("most of what is likely")
        return (*missing, *_thin_range(talk, plan.intent, chances))


def _thin_parts(searches: Sequence[Search]) -> list[str]:
    """Parts of the question without any likely evidence."""
    return [
        f"{search.why}: {search.question}"
        for search in searches
        if search.why in ("person", "slot") and max(search.probabilities, default=0.0) < THIN
    ]


def _empty_quarters(talk: Talk, chances: dict[int, float]) -> list[str]:
    """A story needs something from each quarter of the conversation."""
    nodes = rank_nodes(talk, chances, ())[: max(len(talk.nodes) // 2, 1)]
    size = max(len(talk.messages) / QUARTERS, 1)
    counts = [0] * QUARTERS
    for node in nodes:
        counts[min(int(node.positions.start / size), QUARTERS - 1)] += 1
    return [
        f"time: quarter {at} of the talk"
        for at, count in enumerate(counts, start=1)
        if count < NODES_IN_A_QUARTER
    ]


def _thin_range(talk: Talk, intent: Intent, chances: dict[int, float]) -> list[str]:
    days = intent.time_range
    if days is None or not any(days.hold(day) for day in talk.days):
        return []
    inside = sum(days.hold(talk.days[position], slack=1) for position in chances)
    return ["time: the days asked for"] if inside < MESSAGES_IN_RANGE else []
