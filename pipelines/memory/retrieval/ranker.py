"""The learned ranking: a logistic regression over all features, its weights in ``weights.json``."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TypedDict

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
WEIGHTS = Path(__file__).with_name("weights.json")


class StoredFeature(TypedDict):
    name: str
    mean: float
    spread: float
    weight: float


class StoredRanker(TypedDict):
    """As ``weights.json`` has it; ``always`` is the intercept."""

    features: list[StoredFeature]
    always: float


@dataclass(frozen=True)
class Ranker:
    names: tuple[str, ...]
    mean: Floats
    spread: Floats
    weights: Floats
    always: float

    def margins(self, columns: Mapping[str, Floats]) -> Floats:
        """The logarithm of the odds that each message is evidence."""
        weights = self.weights / self.spread
        rows = np.stack([columns[name] for name in self.names])
        margins: Floats = weights @ rows + (self.always - weights @ self.mean)
        return margins

    @classmethod
    def of(cls, stored: StoredRanker) -> Ranker:
        rows = stored["features"]
        return cls(
            names=tuple(row["name"] for row in rows),
            mean=np.array([row["mean"] for row in rows]),
            spread=np.array([row["spread"] for row in rows]),
            weights=np.array([row["weight"] for row in rows]),
            always=float(stored["always"]),
        )


def probabilities(margins: Floats) -> Floats:
    chances: Floats = 1 / (1 + np.exp(-np.clip(margins, -30, 30)))
    return chances


@cache
def shipped(talk: str = "") -> Ranker:
    """The shipped ranker; for a conversation in its training data, the ranker fitted without it."""
    stored = json.loads(WEIGHTS.read_text(encoding="utf-8"))
    return Ranker.of(stored["without"].get(talk, stored))
