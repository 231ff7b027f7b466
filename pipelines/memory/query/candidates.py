"""Q2 and Q3: where the conversation stands out in what the question is about, and all that may be
evidence, in the order in which it is promising.

The order is kept: sorting by time before a cut would drop the most promising ones.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from pipelines.memory.dates import Days
from pipelines.memory.query.intent import Intent
from pipelines.memory.query.talk import Node, Talk

ANCHOR_BONUS = 0.05
THREAD_SHARE = 0.3
"""What a node passes to the others of its thread: a link is a hint, not a hit."""


@dataclass(frozen=True, slots=True)
class Search:
    """The results of one wording of the question, or of one step from it."""

    question: str
    why: str
    """asked, person, slot, topic, time, neighbours, thread or reply."""
    indexes: tuple[int, ...]
    probabilities: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Candidates:
    """Message positions and nodes, each best first."""

    positions: tuple[int, ...]
    scores: tuple[float, ...]
    nodes: tuple[Node, ...]


def lookup_anchors(intent: Intent, talk: Talk) -> list[Node]:
    """Nodes that are anomalies in a signal of the focus, within the days asked for."""
    focus = frozenset(intent.focus_dimensions)
    return [
        node
        for node in talk.nodes
        if node.anchors & focus and in_days(node, intent.time_range, talk)
    ]


def in_days(node: Node, days: Days | None, talk: Talk) -> bool:
    if days is None:
        return True
    return any(days.hold(talk.days[local - 1]) for local in node.all_message_ids)


def search(talk: Talk, question: str, *, why: str, limit: int) -> Search:
    (result,) = search_all(talk, [(question, why)], limit=limit)
    return result


def search_all(talk: Talk, asked: Sequence[tuple[str, str]], *, limit: int) -> list[Search]:
    """For each question, with why it is asked; a single batch is cheaper than one call each."""
    rankings = talk.index.rank_all([question for question, _ in asked], limit=limit)
    return [
        Search(question, why, tuple(ranking.indexes), tuple(map(float, ranking.probabilities)))
        for (question, why), ranking in zip(asked, rankings, strict=True)
    ]


def best_of(searches: Iterable[Search]) -> dict[int, float]:
    """Each position with the best chance that any search gave it."""
    best: dict[int, float] = {}
    for search in searches:
        for position, probability in zip(search.indexes, search.probabilities, strict=True):
            if probability > best.get(position, -1.0):
                best[position] = probability
    return best


def expand_candidates(
    talk: Talk,
    searches: Sequence[Search],
    anchors: Sequence[Node],
    *,
    node_limit: int,
) -> Candidates:
    """All results, with the nodes that contain them, stand out or are linked to those."""
    chances = best_of(searches)
    ranked = sorted(chances, key=lambda position: (-chances[position], position))
    nodes = rank_nodes(talk, chances, anchors)[:node_limit]
    return Candidates(tuple(ranked), tuple(chances[at] for at in ranked), tuple(nodes))


def rank_nodes(talk: Talk, chances: dict[int, float], anchors: Sequence[Node]) -> list[Node]:
    """By the chance that a node contains any evidence; anchors and threads add to it."""
    promise = {node.node_id: _any_evidence(node, chances) for node in talk.nodes}
    own = dict(promise)
    for node in talk.nodes:
        handed_on = [own[other] for other in node.linked if other in own]
        promise[node.node_id] += THREAD_SHARE * max(handed_on, default=0.0)
    for node in anchors:
        promise[node.node_id] += ANCHOR_BONUS
    return sorted(talk.nodes, key=lambda node: -promise[node.node_id])


def _any_evidence(node: Node, chances: dict[int, float]) -> float:
    nothing = 1.0
    for local in node.all_message_ids:
        nothing *= 1.0 - chances.get(local - 1, 0.0)
    return 1.0 - nothing
