"""What was held at each checkpoint: candidates, re-ranked, selected; and what was shown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pipelines.memory.query.candidates import Candidates
from pipelines.memory.query.mind import Told, Verdict
from pipelines.memory.query.talk import Talk, local_ids

DECIMALS = 4


def retrieval_trace(
    talk: Talk, candidates: Candidates, verdict: Verdict, told: Told, *, full: bool
) -> dict[str, Any]:
    first = dict(zip(candidates.positions, candidates.scores, strict=True))
    shown = sorted({*verdict.shown, *told.shown})
    found = [*candidates.positions, *(at for at in shown if at not in first)]
    trace = {
        "candidates": _checkpoint(found, first, full=full),
        "reranked": _checkpoint(verdict.ranked, verdict.chances, full=full),
        "selected": _checkpoint(told.chosen, verdict.chances, full=full),
        "shown": local_ids(shown),
        "verbosity": "full" if full else "minimal",
        "unknown_ids": verdict.unknown_ids + told.unknown_ids,
        "corpus_size": len(talk.messages),
    }
    return trace | ({"nodes": _nodes(candidates)} if full else {})


def _checkpoint(
    positions: Sequence[int], scores: Mapping[int, float], *, full: bool
) -> dict[str, Any]:
    held: dict[str, Any] = {"ids": local_ids(positions), "set_size": len(positions)}
    if full:
        held["scores"] = [round(scores.get(position, 0.0), DECIMALS) for position in positions]
    return held


def _nodes(candidates: Candidates) -> list[dict[str, Any]]:
    return [
        {
            "node_id": node.node_id,
            "topic": node.topic,
            "messages": len(node.all_message_ids),
            "anchors": sorted(node.anchors),
        }
        for node in candidates.nodes
    ]
