"""The agent: planner → retriever → grader → generator, as a graph.

Without a model it looks once. With one, a conversation that fits into the context is read as a
whole, in one call of the generator; of a longer one the grader reads what was found and says
what to search and to read, the explorer does that, and the grader looks again.
There is no checkpointer: a case that stops is run again from the start.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from typing import TYPE_CHECKING, Any

from pipelines.memory.query import reading, steps
from pipelines.memory.query.steps import Deps, State

if TYPE_CHECKING:
    from langgraph.runtime import Runtime


def generate(state: State, deps: Deps) -> State:
    if deps.model is None:
        return steps.answer(state, deps)
    if "exchange" in state:  # the last look has answered
        return {"phases": state["phases"], "chosen": state["chosen"]}
    return reading.read(state, deps)


NODES: Mapping[str, Callable[[State, Deps], State]] = {
    "planner": steps.plan,
    "retriever": reading.retrieve,
    "grader": reading.look,
    "explorer": reading.explore,
    "generator": generate,
}


def _node(name: str) -> Any:
    def node(state: State, runtime: Runtime[Deps]) -> State:
        return NODES[name](state, runtime.context)

    return node


def after_retriever(state: State) -> str:
    return "grader" if state["too_long"] else "generator"


def after_grader(state: State) -> str:
    return "explorer" if any(state["wanted"]) else "generator"


@cache
def compiled() -> Any:
    from langgraph.graph import END, START, StateGraph

    graph = StateGraph(State, context_schema=Deps)
    for name in NODES:
        graph.add_node(name, _node(name))
    graph.add_edge(START, "planner")
    graph.add_edge("planner", "retriever")
    graph.add_conditional_edges("retriever", after_retriever, ["grader", "generator"])
    graph.add_conditional_edges("grader", after_grader, ["explorer", "generator"])
    graph.add_edge("explorer", "grader")
    graph.add_edge("generator", END)
    return graph.compile()


def updates(start: State, deps: Deps) -> Any:
    limit = {"recursion_limit": 2 * deps.config.max_rounds + 8}
    return compiled().stream(start, limit, context=deps, stream_mode="updates")
