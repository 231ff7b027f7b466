"""The messages at each checkpoint (candidates, re-ranked, selected), and what was shown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypedDict

from pipelines.memory.query.candidates import Candidates
from pipelines.memory.query.mind import PhasedAnswer, Verdict
from pipelines.memory.query.talk import Talk, local_ids

DECIMALS = 4


class Checkpoint(TypedDict, total=False):
    ids: list[int]
    set_size: int
    scores: list[float]
    """Parallel to ``ids``; only in a full trace."""


class TopicTrace(TypedDict):
    node_id: str
    topic: str
    messages: int
    anchors: list[str]


class RetrievalTrace(TypedDict, total=False):
    candidates: Checkpoint
    reranked: Checkpoint
    selected: Checkpoint
    shown: list[int]
    verbosity: str
    unknown_ids: int
    corpus_size: int
    nodes: list[TopicTrace]
    """Only in a full trace."""


def retrieval_trace(
    talk: Talk, candidates: Candidates, verdict: Verdict, phased: PhasedAnswer, *, full: bool
) -> RetrievalTrace:
    scores = dict(zip(candidates.positions, candidates.scores, strict=True))
    shown = sorted({*verdict.shown, *phased.shown})
    positions = [*candidates.positions, *(at for at in shown if at not in scores)]
    trace: RetrievalTrace = {
        "candidates": _checkpoint(positions, scores, full=full),
        "reranked": _checkpoint(verdict.ranked, verdict.chances, full=full),
        "selected": _checkpoint(phased.chosen, verdict.chances, full=full),
        "shown": local_ids(shown),
        "verbosity": "full" if full else "minimal",
        "unknown_ids": verdict.unknown_ids + phased.unknown_ids,
        "corpus_size": len(talk.messages),
    }
    if full:
        trace["nodes"] = _topics(candidates)
    return trace


def _checkpoint(positions: Sequence[int], scores: Mapping[int, float], *, full: bool) -> Checkpoint:
    checkpoint: Checkpoint = {"ids": local_ids(positions), "set_size": len(positions)}
    if full:
        rounded = [round(scores.get(position, 0.0), DECIMALS) for position in positions]
        checkpoint["scores"] = rounded
    return checkpoint


def _topics(candidates: Candidates) -> list[TopicTrace]:
    return [
        {
            "node_id": node.node_id,
            "topic": node.topic,
            "messages": len(node.all_message_ids),
            "anchors": sorted(node.anchors),
        }
        for node in candidates.nodes
    ]
