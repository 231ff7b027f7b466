"""The steps of the agent, what flows between them, and what they need from outside.

A node reads the state and returns only what it adds.
"""

from __future__ import annotations

import operator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, TypedDict

from pipelines.memory.agent.exploring import explore
from pipelines.memory.config import MemoryConfig
from pipelines.memory.query.candidates import (
    Candidates,
    Search,
    expand_candidates,
    lookup_anchors,
    search_all,
)
from pipelines.memory.query.mind import SURE, Mind, PhasedAnswer, Plan, Verdict
from pipelines.memory.query.talk import Talk

if TYPE_CHECKING:
    from langgraph.runtime import Runtime


class AgentState(TypedDict, total=False):
    """``searches`` grows with retriever and explorer; each other key has one or two writers."""

    question: str  # input
    task: str  # input
    plan: Plan  # planner
    searches: Annotated[list[Search], operator.add]  # retriever, explorer
    verdict: Verdict  # grader
    rounds: Annotated[int, operator.add]  # grader: how often it has judged
    candidates: Candidates  # generator
    phased: PhasedAnswer  # generator


@dataclass(frozen=True, slots=True)
class Deps:
    talk: Talk
    mind: Mind
    config: MemoryConfig


def planner(state: AgentState, runtime: Runtime[Deps]) -> AgentState:
    deps = runtime.context
    return {"plan": deps.mind.plan(state["question"], deps.talk, task=state["task"])}


def retriever(state: AgentState, runtime: Runtime[Deps]) -> AgentState:
    """The question as asked, and each of its parts."""
    deps = runtime.context
    parts = [(part.text, part.why) for part in state["plan"].sub_questions]
    asked = [(state["question"], "asked"), *parts]
    return {"searches": search_all(deps.talk, asked, limit=deps.config.candidate_limit)}


def grader(state: AgentState, runtime: Runtime[Deps]) -> AgentState:
    deps, looks = runtime.context, state.get("rounds", 0) + 1
    verdict = deps.mind.grade(
        state["question"], deps.talk, state["plan"], state["searches"], looks=looks
    )
    return {"verdict": verdict, "rounds": 1}


def explorer(state: AgentState, runtime: Runtime[Deps]) -> AgentState:
    deps = runtime.context
    return {
        "searches": explore(
            state["question"],
            deps.talk,
            state["verdict"],
            state["searches"],
            look=state["rounds"],
            limit=deps.config.candidate_limit,
        )
    }


def generator(state: AgentState, runtime: Runtime[Deps]) -> AgentState:
    """On the fast path nothing has been graded yet: the results are graded here, once."""
    deps = runtime.context
    question, plan, searches = state["question"], state["plan"], state["searches"]
    verdict = state.get("verdict") or deps.mind.grade(question, deps.talk, plan, searches, looks=1)
    candidates = expand_candidates(
        deps.talk,
        searches,
        lookup_anchors(plan.intent, deps.talk),
        node_limit=deps.config.node_limit,
    )
    phased = deps.mind.answer(question, deps.talk, plan, candidates, verdict)
    return {"verdict": verdict, "candidates": candidates, "phased": phased}


def after_retriever(state: AgentState) -> str:
    """A plain fact that one message surely states needs no grading."""
    chances = [chance for search in state["searches"] for chance in search.probabilities]
    best = max(chances, default=0.0)
    return "generator" if state["plan"].fast and best >= SURE else "grader"


def after_grader(state: AgentState, max_rounds: int) -> str:
    enough = state["verdict"].sufficient or state["rounds"] >= max_rounds
    return "generator" if enough else "explorer"
