"""Only wiring: planner → retriever → grader → generator, or explorer and grader again.

There is no checkpointer: a case that stops is run again from the start.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache, partial
from typing import Any

from pipelines.memory.agent import nodes
from pipelines.memory.agent.nodes import AgentState, Deps
from pipelines.memory.query.oneshot import MemoryAnswer
from pipelines.memory.query.phases import format_cards

STEPS_OF_A_ROUND = 2
OTHER_STEPS = 8


@cache
def compiled(max_rounds: int) -> Any:
    from langgraph.graph import END, START, StateGraph

    graph = StateGraph(AgentState, context_schema=Deps)
    for node in (nodes.planner, nodes.retriever, nodes.grader, nodes.explorer, nodes.generator):
        graph.add_node(node.__name__, node)
    graph.add_edge(START, "planner")
    graph.add_edge("planner", "retriever")
    graph.add_conditional_edges("retriever", nodes.after_retriever, ["generator", "grader"])
    after_grader = partial(nodes.after_grader, max_rounds=max_rounds)
    graph.add_conditional_edges("grader", after_grader, ["generator", "explorer"])
    graph.add_edge("explorer", "grader")
    graph.add_edge("generator", END)
    return graph.compile()


def answer_by_agent(question: str, deps: Deps, *, task: str) -> MemoryAnswer:
    steps: list[Mapping[str, object]] = []
    last: AgentState = {}
    start: AgentState = {"question": question, "task": task, "searches": [], "rounds": 0}
    for update in _updates(start, deps):
        for node, added in update.items():
            last |= added
            steps.append({"node": node, **_described(added)})
    cards = format_cards(deps.talk, last["phased"].phases)
    return MemoryAnswer(last["candidates"], last["verdict"], last["phased"], steps, cards)


def _updates(start: AgentState, deps: Deps) -> Any:
    limit = STEPS_OF_A_ROUND * deps.config.max_rounds + OTHER_STEPS
    return compiled(deps.config.max_rounds).stream(
        start, {"recursion_limit": limit}, context=deps, stream_mode="updates"
    )


def _described(added: Mapping[str, Any]) -> Mapping[str, object]:
    """What a node added, small enough to store: no state is stored twice."""
    described: dict[str, object] = {}
    for key in ("plan", "verdict", "phased"):
        if key in added:
            described |= added[key].as_json()
    if "searches" in added:
        described["searches"] = [
            {"why": search.why, "question": search.question, "found": len(search.indexes)}
            for search in added["searches"]
        ]
    return described
