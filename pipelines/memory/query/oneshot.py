"""One look: Q1 intent, Q2 anchors, Q3 candidates, Q4 phases with evidence, Q5 cards."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pipelines.memory.config import MemoryConfig
from pipelines.memory.query.candidates import Candidates, expand_candidates, lookup_anchors, search
from pipelines.memory.query.mind import Mind, PhasedAnswer, Verdict
from pipelines.memory.query.phases import format_cards
from pipelines.memory.query.talk import Talk


@dataclass(frozen=True, slots=True)
class MemoryAnswer:
    """The result of either mode."""

    candidates: Candidates
    verdict: Verdict
    phased: PhasedAnswer
    steps: Sequence[Mapping[str, object]]
    """What was done, in order, for a reader of the trace."""
    cards: str = ""


def answer_once(
    question: str, talk: Talk, mind: Mind, config: MemoryConfig, *, task: str
) -> MemoryAnswer:
    plan = mind.plan(question, talk, task=task)
    anchors = lookup_anchors(plan.intent, talk)
    searches = [search(talk, question, why="asked", limit=config.candidate_limit)]
    candidates = expand_candidates(
        talk,
        searches,
        anchors,
        node_limit=config.node_limit,
    )
    verdict = mind.grade(question, talk, plan, searches, looks=1)
    phased = mind.answer(question, talk, plan, candidates, verdict)
    cards = format_cards(talk, phased.phases)
    steps: list[Mapping[str, object]] = [
        {"node": "intent", **plan.as_json()},
        {"node": "anchors", "nodes": [node.node_id for node in anchors]},
        {
            "node": "candidates",
            "messages": len(candidates.positions),
            "nodes": len(candidates.nodes),
        },
        {"node": "phases", **verdict.as_json(), **phased.as_json()},
        {"node": "cards", "characters": len(cards)},
    ]
    return MemoryAnswer(candidates, verdict, phased, steps, cards)
