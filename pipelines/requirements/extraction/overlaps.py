"""How far two texts are about the same thing, by the words that they share."""

from __future__ import annotations

import re
from collections.abc import Iterable


def share(about: Iterable[str], asked: Iterable[str]) -> float:
    left, right = set(about), set(asked)
    return len(left & right) / len(left) if left else 0.0


def overlap(left: Iterable[str], right: Iterable[str]) -> float:
    one, other = set(left), set(right)
    return len(one & other) / max(1, min(len(one), len(other)))


def jaccard(left: Iterable[str], right: Iterable[str]) -> float:
    one, other = set(left), set(right)
    return len(one & other) / max(1, len(one | other))


def same_stand(left: str, right: str) -> bool:
    """Neither denies the other, and both name the same figures."""
    figures = [set(re.findall(r"\d+", text)) for text in (left, right)]
    denied = [
        bool(re.search(r"\b(?:not|never|no|without)\b|n't\b", text, re.I)) for text in (left, right)
    ]
    return denied[0] == denied[1] and (not all(figures) or figures[0] == figures[1])
