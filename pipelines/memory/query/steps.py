"""The steps of a question: Q1 intent, Q2 anchors, Q3 candidates, Q4 phases, Q5 cards.

Each takes a state and returns what it adds, so that oneshot calls them in a row and the agent is a
graph of them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypedDict

from pipelines.llm import ChatMessage, ChatModel
from pipelines.memory.config import MemoryConfig
from pipelines.memory.query.intent import Intent, read_intent
from pipelines.memory.query.phases import Phase, one_phase, story_phases
from pipelines.memory.query.selection import choose
from pipelines.memory.talks import Talk, local_ids

LENGTHS = {"narrative": (9, 45), "fact": (1, 5), "summary": (2, 5)}
"""The least and the usual number of messages; the upper one is a soft cap."""
LISTED = 10


@dataclass(frozen=True, slots=True)
class Deps:
    talk: Talk
    config: MemoryConfig
    model: ChatModel | None


class State(TypedDict, total=False):
    """What is known of a question; each key has one writer, but where two are named."""

    question: str  # input
    task: str  # input
    intent: Intent  # planner
    anchors: Sequence[str]  # planner: topics that stand out in what is asked about
    ranked: Sequence[int]  # retriever: positions, best first
    chances: Mapping[int, float]  # retriever: of each of them to be evidence
    shown: frozenset[int]  # retriever; grader and explorer with a model
    too_long: bool  # retriever, in the agent: the model has to search
    exchange: Sequence[ChatMessage]  # grader, explorer
    wanted: tuple[Sequence[str], Sequence[int]]  # grader: what to search, and ids to read
    rounds: int  # grader
    phases: Sequence[Phase]  # generator; grader with a model
    chosen: Sequence[int]  # the same
    answer: str | None  # the same
    unknown_ids: int  # the same: ids that a model named without having been shown them


def plan(state: State, deps: Deps) -> State:
    """Q1 and Q2."""
    intent = read_intent(state["question"], span=deps.talk.span, task=state["task"])
    return {"intent": intent, "anchors": anchors(intent, deps.talk)}


def anchors(intent: Intent, talk: Talk) -> list[str]:
    """Topics that stand out in a signal of the focus, within the days asked for."""
    if talk.layers is None:
        return []
    focus, days = frozenset(intent.focus_dimensions), intent.time_range
    return [
        node.node_id
        for node in talk.topics
        if talk.layers.anchors_of.get(node.node_id, frozenset()) & focus
        and (days is None or any(days.hold(talk.days[at - 1]) for at in node.all_message_ids))
    ]


def retrieve(state: State, deps: Deps) -> State:
    """Q3: every message that may be evidence, in the order in which it is promising."""
    config, talk, days = deps.config, deps.talk, state["intent"].time_range
    if not talk.messages:
        return {"ranked": (), "chances": {}, "shown": frozenset()}
    method = "learned" if config.reranker == "context" else "fusion"
    found = talk.index.rank_by(method, state["question"])
    pairs = list(zip(found.indexes, found.probabilities, strict=True))
    if config.time_window and days is not None:
        slack = config.time_window
        pairs = [pair for pair in pairs if days.hold(talk.days[pair[0]], slack=slack)]
    chances = dict(pairs[: config.candidate_limit])
    return {"ranked": tuple(chances), "chances": chances, "shown": frozenset(chances)}


def answer(state: State, deps: Deps) -> State:
    """Q4: as many of the best as they are worth, in phases."""
    chosen = chosen_of(state, deps.config)
    if state["intent"].output_mode == "narrative":
        phases = story_phases(deps.talk, state["chances"], chosen, least=3)
    else:
        phases = one_phase(state["question"], chosen)
    told = {position for phase in phases for position in phase.evidence}
    in_order = [position for position in state["ranked"] if position in told]
    return {"phases": phases, "chosen": in_order, "answer": None, "unknown_ids": 0}


def chosen_of(state: State, config: MemoryConfig) -> Sequence[int]:
    story = state["intent"].output_mode == "narrative"
    least, most = LENGTHS[state["intent"].output_mode]
    likely = [at for at in state["ranked"] if state["chances"][at] >= config.threshold]
    chances = [state["chances"][at] for at in likely]
    number = choose(
        chances,
        expected=sum(chances),
        precision=config.precision_weight,
        price=config.story_price if story else config.price,
        least=least,
        most=most,
    )
    return likely[:number]


def described(added: State) -> Mapping[str, object]:
    """What a step added, small enough to store: no state is stored twice."""
    told: dict[str, object] = {}
    if "intent" in added:
        told |= {**added["intent"].as_json(), "anchors": list(added["anchors"])}
    if "ranked" in added:
        best = added["ranked"][:LISTED]
        scores = [round(added["chances"][at], 4) for at in best]
        told |= {"found": len(added["ranked"]), "best": {"ids": local_ids(best), "scores": scores}}
    if "wanted" in added:
        told |= dict(zip(("search", "read"), map(list, added["wanted"]), strict=True))
    if "phases" in added:
        told |= {"phases": len(added["phases"]), "evidence": local_ids(added["chosen"])}
    if "shown" in added:
        told["shown"] = len(added["shown"])
    return told
