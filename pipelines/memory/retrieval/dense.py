"""Sentence vectors of messages, and of windows of a few messages in a row."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from pipelines.types import Encoder, Vectors

Floats = NDArray[np.float64]
WIDTHS = (2, 3, 5)


def windows(texts: Sequence[str], width: int) -> list[str]:
    """Every run of ``width`` messages; a shorter conversation is one window."""
    last = max(len(texts) - width, 0)
    return ["\n".join(texts[at : at + width]) for at in range(last + 1)]


def encode_all(texts: Sequence[str], encoder: Encoder) -> dict[int, Vectors]:
    """Vectors by width; width 1 are the messages themselves."""
    found = {1: encoder.encode(texts)}
    for width in WIDTHS:
        found[width] = encoder.encode(windows(texts, width))
    return found


def to_messages(scores: Floats, *, width: int, count: int) -> Floats:
    """A message is worth its best window."""
    best = np.full(count, -np.inf)
    for offset in range(width):
        end = min(offset + len(scores), count)
        best[offset:end] = np.maximum(best[offset:end], scores[: end - offset])
    return best
