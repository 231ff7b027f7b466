"""Weighs what the searches found: the chance of each message to be evidence.

The index judges each message by itself and for one wording of the question. Here its judgement is
compared with the rest of the talk: the messages next to it, in its topic and its thread, what the
other searches said of it, and how many messages such a question usually needs.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TypedDict

import numpy as np
from numpy.typing import NDArray

from pipelines.memory.query.candidates import Search, best_of
from pipelines.memory.query.intent import Intent
from pipelines.memory.query.talk import Node, Talk

FEATURES = (
    "asked", "rank", "lead", "runner_up", "total", "parts", "topic",
    "before", "after", "near", "like_best", "like_first", "like_all", "node", "thread",
    "in_days", "outside_days", "when", "count", "yes_no", "why", "many", "both", "story",
    "asked_when", "asked_many", "asked_story", "rank_when", "rank_many",
)  # fmt: skip
WEIGHTS = Path(__file__).with_name("weights.json")
FLOOR = 1e-4
HITS = 10
NEAR = 3
PARTS = ("person", "slot", "time")

Matrix = NDArray[np.float64]
Columns = dict[str, Matrix | float]
"""By feature; a number holds for every message."""


class StoredWeights(TypedDict):
    """As ``weights.json`` has them; columns are parallel to ``features``."""

    features: list[str]
    mean: list[float]
    scale: list[float]
    weights: list[float]
    bias: float


@dataclass(frozen=True, slots=True)
class Weights:
    """A logistic model; ``pipelines.memory.training.query`` fits it."""

    mean: Matrix
    scale: Matrix
    weights: Matrix
    bias: float

    def chances(self, features: Matrix) -> Matrix:
        logits = ((features - self.mean) / self.scale) @ self.weights + self.bias
        return np.asarray(1.0 / (1.0 + np.exp(-logits)), dtype=np.float64)


def weigh(
    talk: Talk, intent: Intent, searches: Sequence[Search], weights: Weights | None = None
) -> dict[int, float]:
    """The chance of every position that any search found."""
    positions, rows = features(talk, intent, searches)
    if not positions:
        return {}
    known = weights or trained(explored=has_explored(searches), talk=talk.left_out)
    chances = known.chances(rows)
    return dict(zip(positions, map(float, chances), strict=True))


def has_explored(searches: Sequence[Search]) -> bool:
    return any(search.why == "topic" for search in searches)


@cache
def trained(*, explored: bool, talk: str = "") -> Weights:
    """The shipped weights; for a conversation in their training data, those fitted without it."""
    stored = json.loads(WEIGHTS.read_text(encoding="utf-8"))
    return from_json(stored["without"].get(talk, stored)["explored" if explored else "first"])


def from_json(stored: StoredWeights) -> Weights:
    if tuple(stored["features"]) != FEATURES:
        raise ValueError("The weights were trained on other features; train them again.")
    columns = (stored["mean"], stored["scale"], stored["weights"])
    mean, scale, weights = (np.array(column, float) for column in columns)
    return Weights(mean, scale, weights, float(stored["bias"]))


def features(talk: Talk, intent: Intent, searches: Sequence[Search]) -> tuple[list[int], Matrix]:
    """Positions, and one row of ``FEATURES`` for each."""
    positions = sorted(best_of(searches))
    if not positions:
        return [], np.empty((0, len(FEATURES)))
    columns = _message_columns(talk, searches, positions) | _day_columns(talk, intent, positions)
    columns |= _question_columns(intent, columns)
    size = len(positions)
    table = [np.broadcast_to(np.asarray(columns[name], float), (size,)) for name in FEATURES]
    return positions, np.stack(table, axis=1)


def _message_columns(talk: Talk, searches: Sequence[Search], positions: list[int]) -> Columns:
    asked = best_of(search for search in searches if search.why == "asked")
    chances = np.array([asked.get(position, 0.0) for position in positions])
    sure = _logit(chances)
    ordered = np.sort(chances)[::-1]
    ranks = np.empty(len(positions))
    ranks[np.argsort(-chances, kind="stable")] = np.arange(1, len(positions) + 1)
    return {
        "asked": sure,
        "rank": np.log(ranks),
        "lead": sure - sure.max(),
        "runner_up": _logit(ordered[1:2]).item() if len(ordered) > 1 else 0.0,
        "total": np.log(chances.sum() + FLOOR),
        **_other_searches(searches, positions, sure),
        **_surroundings(talk, asked, positions),
        **_likeness(talk, chances, positions),
    }


def _other_searches(searches: Sequence[Search], positions: list[int], asked: Matrix) -> Columns:
    """The scores of the other searches; without any, those of the question as asked."""
    kinds = {"parts": PARTS, "topic": ("topic",)}
    columns: Columns = {}
    for name, whys in kinds.items():
        chances = best_of(search for search in searches if search.why in whys)
        own = _logit(np.array([chances.get(position, 0.0) for position in positions]))
        columns[name] = own - asked if chances else np.zeros(len(positions))
    return columns


def _surroundings(talk: Talk, asked: dict[int, float], positions: list[int]) -> Columns:
    """The best chance next to a message, around it, and in the rest of its topic and thread."""

    chances = np.zeros(
        len(talk.messages) + 2 * NEAR
    )  # there are no messages before and after the conversation
    chances[np.array(list(asked), int) + NEAR] = list(asked.values())
    here = np.array(positions) + NEAR

    def best(*steps: int) -> Matrix:
        return _logit(np.max([chances[here + step] for step in steps], axis=0))

    best_in = {node.node_id: _two_best(node, asked) for node in talk.nodes}
    threads = {node.node_id: _thread(node, best_in) for node in talk.nodes}
    nodes = [(at, talk.node_at.get(at)) for at in positions]
    return {
        "before": best(-1),
        "after": best(1),
        "near": best(-3, -2, 2, 3),
        "node": _logit(np.array([_rest(asked.get(at, 0.0), node, best_in) for at, node in nodes])),
        "thread": _logit(np.array([threads[node.node_id] if node else 0.0 for _, node in nodes])),
    }


def _likeness(talk: Talk, chances: Matrix, positions: list[int]) -> Columns:
    """How similar a message is to the best results: lists come bit by bit."""
    if talk.vectors is None:
        return dict.fromkeys(("like_best", "like_first", "like_all"), 0.0)
    best = np.argsort(-chances, kind="stable")[:HITS]
    rows = talk.vectors[np.array(positions)]
    near = (rows @ rows[best].T).astype(np.float64)
    near[best, np.arange(len(best))] = 0.0  # not itself
    sure = chances[best]
    return {
        "like_best": (near * sure).max(axis=1),
        "like_first": near[:, :3].max(axis=1),
        "like_all": near @ sure / (sure.sum() + FLOOR),
    }


def _two_best(node: Node, asked: dict[int, float]) -> list[float]:
    return sorted((asked.get(local - 1, 0.0) for local in node.all_message_ids), reverse=True)[:2]


def _rest(own: float, node: Node | None, best_in: dict[str, list[float]]) -> float:
    """The best of the node's other messages; ``own`` is the chance of the message itself."""
    if node is None:
        return 0.0
    best, *others = best_in[node.node_id]
    return (others[0] if others else 0.0) if own >= best else best


def _thread(node: Node, best_in: dict[str, list[float]]) -> float:
    return max((best_in[other][0] for other in node.linked if other in best_in), default=0.0)


def _day_columns(talk: Talk, intent: Intent, positions: list[int]) -> Columns:
    days = intent.time_range
    if days is None:
        return {"in_days": 0.0, "outside_days": 0.0}
    inside = np.array([days.hold(talk.days[position], slack=1) for position in positions])
    return {"in_days": inside.astype(float), "outside_days": (~inside).astype(float)}


def _question_columns(intent: Intent, columns: Columns) -> Columns:
    shapes = {
        name: float(intent.shape == name) for name in ("when", "count", "yes_no", "why", "many")
    }
    story = float(intent.output_mode == "narrative")
    return {
        **shapes,
        "both": float(intent.both),
        "story": story,
        "asked_when": columns["asked"] * shapes["when"],
        "asked_many": columns["asked"] * shapes["many"],
        "asked_story": columns["asked"] * story,
        "rank_when": columns["rank"] * shapes["when"],
        "rank_many": columns["rank"] * shapes["many"],
    }


def _logit(chances: Matrix) -> Matrix:
    clipped = np.clip(chances, FLOOR, 1 - FLOOR)
    return np.asarray(np.log(clipped / (1 - clipped)), dtype=np.float64)
