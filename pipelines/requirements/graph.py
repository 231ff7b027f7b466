"""Only wiring: extraction → inference → validation → document, or the part that is asked for.

A layer is served by the node of its name; ``end_to_end`` takes all of them. Requirements that are
an input are not extracted again.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from pipelines.requirements import nodes
from pipelines.requirements.config import NODES
from pipelines.requirements.nodes import Deps, RequirementsState

WHOLE = "end_to_end"


@cache
def compiled() -> Any:
    from langgraph.graph import END, START, StateGraph

    graph = StateGraph(RequirementsState, context_schema=Deps)
    for node in (nodes.extraction, nodes.inference, nodes.validation, nodes.document):
        graph.add_node(node.__name__, node)
    graph.add_conditional_edges(START, first, list(NODES))
    for at, node_name in enumerate(NODES[:-1]):
        graph.add_conditional_edges(node_name, _after(node_name), [*NODES[at + 1 :], END])
    graph.add_edge("document", END)
    return graph.compile()


def run(state: RequirementsState, deps: Deps) -> RequirementsState:
    """The state with what every node on the way has added."""
    end: RequirementsState = compiled().invoke(state, context=deps)
    return end


def first(state: RequirementsState) -> str:
    """Extraction, unless the requirements are there already."""
    if "requirements" not in state:
        return "extraction"
    task = state["case"].task or WHOLE
    return "inference" if task == WHOLE else task


def next_node(task: str, node: str) -> str | None:
    """What comes after ``node`` on the way to what the task asks for."""
    if task == WHOLE:
        return NODES[NODES.index(node) + 1]
    return None if task == node else task


def _after(node: str) -> Any:
    from langgraph.graph import END

    def choose(state: RequirementsState) -> str:
        return next_node(state["case"].task or WHOLE, node) or END

    return choose
