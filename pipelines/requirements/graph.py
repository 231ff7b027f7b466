"""extraction → inference → validation → document, or the part that is asked for.

A node is given what is found so far, and adds what it is named for. A layer is served by the node
of its name; ``end_to_end`` takes all of them. Requirements that are an input are not extracted
again.
"""

from __future__ import annotations

import operator
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Annotated, Any, TypedDict, cast

from pipelines.requirements.analyst import Analyst
from pipelines.requirements.config import NODES
from pipelines.requirements.document.sections import Findings
from pipelines.requirements.labels import Document, Issue, Requirement, Step
from pipelines.types import Case

if TYPE_CHECKING:
    from langgraph.runtime import Runtime

WHOLE = "end_to_end"
KEYS = dict(
    zip(NODES, ("requirements", "inferred_requirements", "issues", "document"), strict=True)
)
"""What each node adds."""
KINDS = {"inference": "inference_type", "validation": "issue_type"}
"""The field by which the labels of a node are counted."""


@dataclass(frozen=True, slots=True)
class Team:
    """Who works at each node."""

    extraction: Analyst
    inference: Analyst
    validation: Analyst
    document: Analyst


class RequirementsState(TypedDict, total=False):
    """Each key but ``steps`` is written by one node; requirements may also be an input."""

    case: Case  # input
    requirements: list[Requirement]
    inferred_requirements: list[Requirement]
    issues: list[Issue]
    document: Document
    steps: Annotated[list[Step], operator.add]  # every node


def run(state: RequirementsState, team: Team) -> RequirementsState:
    """The state with what every node on the way has added."""
    end: RequirementsState = compiled().invoke(state, context=team)
    return end


@cache
def compiled() -> Any:
    from langgraph.graph import END, START, StateGraph

    graph = StateGraph(RequirementsState, context_schema=Team)
    for at, name in enumerate(NODES):
        graph.add_node(name, _node(name))
        graph.add_conditional_edges(name, _after(at), [*NODES[at + 1 :], END])
    graph.add_conditional_edges(START, _first, list(NODES))
    return graph.compile()


def _node(name: str) -> Any:
    def node(state: RequirementsState, runtime: Runtime[Team]) -> Mapping[str, Any]:
        requirements, issues = state.get("requirements", []), state.get("issues", [])
        inferred = state.get("inferred_requirements", [])
        work = getattr(getattr(runtime.context, name), name)
        found, notes = work(Findings(state["case"], requirements, inferred, issues))
        return {KEYS[name]: found, "steps": [step_of(name, found, notes)]}

    return node


def step_of(node: str, found: Any, notes: Mapping[str, object]) -> Step:
    told: dict[str, object] = {}
    if node == "document":
        empty = [section["id"] for section in found["sections"] if not section["body"]]
        told = {"sections": len(found["sections"]), "empty": empty}
    else:
        told = {"found": len(found)}
    if node in KINDS:
        told["kinds"] = dict(Counter(label[KINDS[node]] for label in found))
    return cast(Step, {"node": node, **told, **notes})


def _first(state: RequirementsState) -> str:
    """Extraction, unless the requirements are there already."""
    if "requirements" not in state:
        return "extraction"
    task = state["case"].task or WHOLE
    return "inference" if task == WHOLE else task


def _after(at: int) -> Any:
    """The node that was asked for, or on the whole way the next one."""
    from langgraph.graph import END

    def choose(state: RequirementsState) -> str:
        task = state["case"].task or WHOLE
        if task == WHOLE:
            return [*NODES[1:], END][at]
        return END if task == NODES[at] else task

    return choose
