"""Where a burst changes its subject: valleys of cohesion between the two sides.

After Hearst's TextTiling (Computational Linguistics 23, 1997), with sentence vectors, too.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from statistics import mean, pstdev

import numpy as np

from pipelines.memory.layers.config import LayersConfig
from pipelines.memory.layers.words import cosine, rarity, stems
from pipelines.memory.text import spoken
from pipelines.memory.times import Burst
from pipelines.types import Vectors

WORDS_SHARE = 0.4
"""Weight of shared words against vectors; words alone miss paraphrase, vectors alone miss names."""
QUESTION_BONUS = 0.15
"""An answer belongs to its question."""
DECIMALS = 6
"""Cohesion is rounded, so that the same text is cut at the same places on every machine."""


def segment(
    bursts: Sequence[Burst], vectors: Sequence[Vectors], config: LayersConfig
) -> list[list[Burst]]:
    """The topics of each burst, in order; together they are the burst."""
    weights = rarity(stems(spoken(message.content)) for burst in bursts for message in burst)
    depths = [
        valleys(cohesion(burst, rows, weights, window=config.window))
        for burst, rows in zip(bursts, vectors, strict=True)
    ]
    known = [depth for row in depths for depth in row]
    enough = mean(known) + config.cut_depth * pstdev(known) if known else 0.0
    return [
        split(burst, cuts(row, enough=enough, config=config))
        for burst, row in zip(bursts, depths, strict=True)
    ]


def cohesion(
    burst: Burst, vectors: Vectors, weights: dict[str, float], *, window: int
) -> list[float]:
    """For each place between two messages, how much both sides have in common."""
    words = [Counter(stems(spoken(message.content))) for message in burst]
    return [
        round(_common(burst, vectors, words, weights, at, window), DECIMALS)
        for at in range(1, len(burst))
    ]


def valleys(values: Sequence[float]) -> list[float]:
    """How far each value lies below the next peaks on both sides."""
    return [
        max(0.0, _peak(values[: at + 1][::-1]) + _peak(values[at:]) - 2 * value)
        for at, value in enumerate(values)
    ]


def cuts(depths: Sequence[float], *, enough: float, config: LayersConfig) -> list[int]:
    """Where to cut, deepest valley first; a cut at ``n`` is before the n-th message."""
    chosen: list[int] = []
    size = len(depths) + 1
    by_depth = sorted(range(1, size), key=lambda at: (-depths[at - 1], at))
    for at in by_depth:
        if depths[at - 1] > enough and _leaves_room(at, chosen, size, config.least_messages):
            chosen.append(at)
    return _no_longer_than(config.most_messages, sorted(chosen), by_depth, size, config)


def split(burst: Burst, places: Sequence[int]) -> list[Burst]:
    edges = [0, *places, len(burst)]
    return [burst[start:end] for start, end in pairwise(edges)]


def _common(
    burst: Burst,
    vectors: Vectors,
    words: Sequence[Counter[str]],
    weights: dict[str, float],
    at: int,
    window: int,
) -> float:
    start, end = max(0, at - window), min(len(burst), at + window)
    meaning = _alike(vectors[start:at], vectors[at:end])
    left, right = sum(words[start:at], Counter()), sum(words[at:end], Counter())
    shared = cosine(left, right, weights)
    both = meaning if shared is None else (1 - WORDS_SHARE) * meaning + WORDS_SHARE * shared
    return both + (QUESTION_BONUS if _answers(burst, at) else 0.0)


def _alike(left: Vectors, right: Vectors) -> float:
    """Cosine of the means of both sides; zero vectors are like nothing."""
    left_mean, right_mean = left.mean(axis=0), right.mean(axis=0)
    length = float(np.linalg.norm(left_mean) * np.linalg.norm(right_mean))
    return float(left_mean @ right_mean) / length if length else 0.0


def _answers(burst: Burst, at: int) -> bool:
    before, after = burst[at - 1], burst[at]
    return before.speaker != after.speaker and spoken(before.content).rstrip().endswith("?")


def _peak(values: Sequence[float]) -> float:
    """The highest value reached while climbing from the first one."""
    best = values[0]
    for value in values[1:]:
        if value < best:
            break
        best = value
    return best


def _leaves_room(at: int, chosen: Sequence[int], size: int, least: int) -> bool:
    return all(abs(at - edge) >= least for edge in (0, size, *chosen))


def _no_longer_than(
    most: int, chosen: list[int], by_depth: Sequence[int], size: int, config: LayersConfig
) -> list[int]:
    """Cut what is still too long at its deepest place, however shallow that is."""
    while True:
        edges = [0, *chosen, size]
        long = next(((a, b) for a, b in pairwise(edges) if b - a > most), None)
        if long is None:
            return chosen
        least = min(config.least_messages, most // 2)
        place = next(at for at in by_depth if long[0] + least <= at <= long[1] - least)
        chosen = sorted([*chosen, place])
