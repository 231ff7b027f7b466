"""extraction → inference → validation → document, or the part that is asked for.

A node reads the state and returns only what it adds. A layer is served by the node of its name;
``end_to_end`` takes all of them. Requirements that are an input are not extracted again.
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


class RequirementsState(TypedDict, total=False):
    """Each key but ``steps`` is written by one node; requirements may also be an input."""

    case: Case  # input
    requirements: list[Requirement]  # extraction, or input
    inferred_requirements: list[Requirement]  # inference
    issues: list[Issue]  # validation
    document: Document  # document
    steps: Annotated[list[Step], operator.add]  # every node


@dataclass(frozen=True, slots=True)
class Team:
    """Who works at each node."""

    extraction: Analyst
    inference: Analyst
    validation: Analyst
    document: Analyst


def extraction(state: RequirementsState, runtime: Runtime[Team]) -> RequirementsState:
    labels, notes = runtime.context.extraction.extract(state["case"])
    return {"requirements": labels, "steps": [step_of("extraction", len(labels), notes)]}


def inference(state: RequirementsState, runtime: Runtime[Team]) -> RequirementsState:
    labels, notes = runtime.context.inference.infer(state["case"], state["requirements"])
    kinds = Counter(label["inference_type"] for label in labels)
    step = step_of("inference", len(labels), {**notes, "kinds": dict(kinds)})
    return {"inferred_requirements": labels, "steps": [step]}


def validation(state: RequirementsState, runtime: Runtime[Team]) -> RequirementsState:
    issues, notes = runtime.context.validation.validate(state["case"], state["requirements"])
    kinds = Counter(issue["issue_type"] for issue in issues)
    step = step_of("validation", len(issues), {**notes, "kinds": dict(kinds)})
    return {"issues": issues, "steps": [step]}


def document(state: RequirementsState, runtime: Runtime[Team]) -> RequirementsState:
    inferred = state.get("inferred_requirements", [])
    findings = Findings(state["case"], state["requirements"], inferred, state.get("issues", []))
    document, notes = runtime.context.document.write(findings)
    empty = [section["id"] for section in document["sections"] if not section["body"]]
    step = {"node": "document", "sections": len(document["sections"]), "empty": empty, **notes}
    return {"document": document, "steps": [cast(Step, step)]}


def step_of(node: str, count: int, notes: Mapping[str, object]) -> Step:
    return cast(Step, {"node": node, "found": count, **notes})


def run(state: RequirementsState, team: Team) -> RequirementsState:
    """The state with what every node on the way has added."""
    end: RequirementsState = compiled().invoke(state, context=team)
    return end


@cache
def compiled() -> Any:
    from langgraph.graph import END, START, StateGraph

    graph = StateGraph(RequirementsState, context_schema=Team)
    for at, node in enumerate((extraction, inference, validation, document)):
        graph.add_node(NODES[at], node)
        graph.add_conditional_edges(NODES[at], _after(NODES[at]), [*NODES[at + 1 :], END])
    graph.add_conditional_edges(START, _first, list(NODES))
    return graph.compile()


def _first(state: RequirementsState) -> str:
    """Extraction, unless the requirements are there already."""
    if "requirements" not in state:
        return "extraction"
    task = state["case"].task or WHOLE
    return "inference" if task == WHOLE else task


def _after(node: str) -> Any:
    """The node that was asked for, or on the whole way the next one."""
    from langgraph.graph import END

    following = [*NODES[1:], END][NODES.index(node)]

    def choose(state: RequirementsState) -> str:
        task = state["case"].task or WHOLE
        if task == WHOLE:
            return following
        return END if task == node else task

    return choose
