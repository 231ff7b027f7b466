"""What flows along the edges, and what the nodes need from outside."""

from __future__ import annotations

import operator
from dataclasses import dataclass
from typing import Annotated, TypedDict

from pipelines.memory.config import MemoryConfig
from pipelines.memory.query.candidates import Candidates, Search
from pipelines.memory.query.mind import Mind, Plan, Told, Verdict
from pipelines.memory.query.talk import Talk


class AgentState(TypedDict, total=False):
    """``searches`` grows with retriever and explorer; each other key has one or two writers."""

    question: str  # input
    task: str  # input
    plan: Plan  # planner
    searches: Annotated[list[Search], operator.add]  # retriever, explorer
    verdict: Verdict  # grader
    rounds: Annotated[int, operator.add]  # grader: how often it has judged
    candidates: Candidates  # generator
    told: Told  # generator


@dataclass(frozen=True, slots=True)
class Deps:
    talk: Talk
    mind: Mind
    config: MemoryConfig
