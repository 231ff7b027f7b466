"""Content words, and how similar two texts are by them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from math import log, sqrt
from pathlib import Path
from typing import Any

import yaml

from pipelines.memory.text import stem

_WORD = re.compile(r"[^\W\d_][\w'’-]*[^\W_]|[^\W\d_]{2,}")


@cache
def lexicon(name: str) -> Any:
    # The base loader keeps every word a string: "no" and "on" are words here, not booleans.
    with (Path(__file__).parent / "lexicons" / f"{name}.yaml").open(encoding="utf-8") as lines:
        return yaml.load(lines, Loader=yaml.CBaseLoader)  # noqa: S506 - builds strings only


def surface_words(text: str) -> list[str]:
    return [word.replace("’", "'").removesuffix("'s") for word in _WORD.findall(text)]


def content_words(text: str) -> list[str]:
    dull = _dull()
    return [word for word in surface_words(text) if word.lower() not in dull and len(word) > 2]


def stems(text: str) -> list[str]:
    return [stem(word.lower()) for word in content_words(text)]


def rarity(texts: Iterable[Sequence[str]]) -> dict[str, float]:
    """Inverse document frequency, smoothed so that no word counts for nothing."""
    documents = [set(text) for text in texts]
    counts = Counter(word for document in documents for word in document)
    return {word: log(1 + len(documents) / count) for word, count in counts.items()}


def cosine(
    left: Mapping[str, int], right: Mapping[str, int], weights: Mapping[str, float]
) -> float | None:
    """None if a side has no word to compare."""
    norms = [
        sqrt(sum((count * weights[word]) ** 2 for word, count in side.items()))
        for side in (left, right)
    ]
    if not all(norms):
        return None
    shared = left.keys() & right.keys()
    dot = sum(left[word] * right[word] * weights[word] ** 2 for word in sorted(shared))
    return dot / (norms[0] * norms[1])


@cache
def _dull() -> frozenset[str]:
    return frozenset(word for line in lexicon("dull") for word in line.split())
