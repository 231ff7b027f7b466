"""Where a burst changes its subject: valleys of cohesion between the two sides.

After Hearst's TextTiling (Computational Linguistics 23, 1997), by sentence vectors.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from statistics import mean, pstdev

import numpy as np

from pipelines.memory.layers.config import LayersConfig
from pipelines.memory.times import Burst
from pipelines.types import Vectors

DECIMALS = 6
"""Cohesion is rounded, so that the same text is cut at the same places on every machine."""


def segment(
    bursts: Sequence[Burst], vectors: Sequence[Vectors], config: LayersConfig
) -> list[list[Burst]]:
    """The topics of each burst, in order; together they are the burst."""
    depths = [valleys(cohesion(rows, window=config.window)) for rows in vectors]
    known = [depth for row in depths for depth in row]
    enough = mean(known) + config.cut_depth * pstdev(known) if known else 0.0
    parts = []
    for burst, row in zip(bursts, depths, strict=True):
        edges = [0, *cuts(row, enough=enough, config=config), len(burst)]
        parts.append([burst[start:end] for start, end in pairwise(edges)])
    return parts


def cohesion(vectors: Vectors, *, window: int) -> list[float]:
    """For each place between two messages the cosine of what is said before and after it."""
    values = []
    for at in range(1, len(vectors)):
        left = vectors[max(0, at - window) : at].mean(axis=0)
        right = vectors[at : at + window].mean(axis=0)
        length = float(np.linalg.norm(left) * np.linalg.norm(right))
        values.append(round(float(left @ right) / length if length else 0.0, DECIMALS))
    return values


def valleys(values: Sequence[float]) -> list[float]:
    """How far each value lies below the next peaks on both sides."""
    return [
        max(0.0, _peak(values[: at + 1][::-1]) + _peak(values[at:]) - 2 * value)
        for at, value in enumerate(values)
    ]


def _peak(values: Sequence[float]) -> float:
    """The highest value reached while climbing from the first one."""
    return next((one for one, after in pairwise(values) if after < one), values[-1])


def cuts(depths: Sequence[float], *, enough: float, config: LayersConfig) -> list[int]:
    """Where to cut, deepest valley first; a cut at ``n`` is before the n-th message.

    What is then still too long is cut at its deepest place, however shallow that is.
    """
    size, most, least = len(depths) + 1, config.most_messages, config.least_messages
    by_depth = sorted(range(1, size), key=lambda at: (-depths[at - 1], at))
    edges = [0, size]
    for at in by_depth:
        if depths[at - 1] > enough and all(abs(at - edge) >= least for edge in edges):
            edges.append(at)
    edges.sort()
    least = min(least, most // 2)
    while long := next(((a, b) for a, b in pairwise(edges) if b - a > most), None):
        edges.append(next(at for at in by_depth if long[0] + least <= at <= long[1] - least))
        edges.sort()
    return edges[1:-1]
