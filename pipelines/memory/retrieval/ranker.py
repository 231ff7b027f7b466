"""The learned ranking: a few small networks over the features, and what chance a score means.

Each network is a hidden layer beside a direct way (Cheng et al. 2016, Wide & Deep Learning): who
says it matters for some questions alone, which a weighted sum cannot say. They learn the order
within a question; a logistic regression over the scores of a question makes chances of them.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from pipelines.memory.shape import SHAPES, asks_both, shape_of

Floats = NDArray[np.float64]
WEIGHTS = Path(__file__).with_name("ranker.safetensors")
EVERY = "all"
FIFTH = 4


@dataclass(frozen=True)
class Ranker:
    """The first axis of ``hidden``, ``bias``, ``out`` and ``wide`` is the network."""

    mean: Floats
    spread: Floats
    hidden: Floats
    bias: Floats
    out: Floats
    wide: Floats
    sure: Floats
    """Weights of :func:`standing`, and at last the intercept."""

    def scores(self, features: Floats) -> Floats:
        """Best where a message is likeliest to be evidence; ``features`` has a row for each."""
        rows = (features - self.mean) / self.spread
        networks = zip(self.hidden, self.bias, self.out, self.wide, strict=True)
        each = [
            np.tanh(rows @ hidden + bias) @ out + rows @ wide
            for hidden, bias, out, wide in networks
        ]
        scores: Floats = np.mean(each, axis=0)
        return scores

    def chances(self, scores: Floats, question: str) -> Floats:
        return probabilities(standing(scores, question) @ self.sure[:-1] + self.sure[-1])


def standing(scores: Floats, question: str) -> Floats:
    """What tells how likely a score is evidence: the others' scores, and how it is asked."""
    ordered = np.sort(scores)[::-1]
    best, second = ordered[0], ordered[min(1, len(ordered) - 1)]
    fifth = ordered[min(FIFTH, len(ordered) - 1)]
    place = np.log(1 + np.argsort(np.argsort(-scores, kind="stable"), kind="stable"))
    shape, both = shape_of(question), float(asks_both(question))
    when, many = float(shape == "when"), float(shape == "many")
    crowd = float(np.log(np.exp(scores - best).sum()))
    alike = (best - second, best - fifth, best, crowd, *(float(shape == s) for s in SHAPES), both)
    own = [scores, scores - best, place, scores * when, scores * many]
    own += [place * when, place * many, place * both]
    return np.column_stack([*own, np.tile(alike, (len(scores), 1))])


def probabilities(margins: Floats) -> Floats:
    chances: Floats = 1 / (1 + np.exp(-np.clip(margins, -30, 30)))
    return chances


@cache
def shipped(without: str = "") -> Ranker:
    """The shipped ranker; for people in its training data, the one fitted without them."""
    from safetensors.numpy import load_file

    parts = load_file(WEIGHTS)
    names = (field.name for field in fields(Ranker))
    return Ranker(
        **{name: parts[f"{without or EVERY}/{name}"].astype(np.float64) for name in names}
    )
