"""Late interaction: every word of the question looks for its nearest word in the message."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol, cast

import numpy as np
from numpy.typing import NDArray

from pipelines.types import Encoder, Vectors

Floats = NDArray[np.float64]


class Tokens(NamedTuple):
    """The pieces of one text, and one L2-normalised row for each."""

    pieces: tuple[str, ...]
    vectors: Vectors


class WholeEncoder(Protocol):
    def encode_both(self, texts: Sequence[str]) -> tuple[Vectors, list[Tokens]]: ...


class Encoded(NamedTuple):
    """A text as one row, and as a row for each of its pieces."""

    sentence: Vectors
    tokens: Tokens


def encode_both(texts: Sequence[str], encoder: Encoder) -> dict[str, Encoded]:
    """By text, each text once, in one pass."""
    different = list(dict.fromkeys(texts))
    sentences, tokens = cast(WholeEncoder, encoder).encode_both(different)
    return {
        text: Encoded(sentence, Tokens(*rows))
        for text, sentence, rows in zip(different, sentences, tokens, strict=True)
    }


@dataclass(frozen=True)
class TokenMatrix:
    """The tokens of all messages in one matrix; ``starts`` is where each message begins."""

    columns: Vectors
    """A column for each token: a few rows times this is quicker than this, turned, times a few."""
    starts: NDArray[np.int64]
    rarity: dict[str, float]
    """How rare a piece is among the messages."""

    @classmethod
    def of(cls, tokens: Sequence[Tokens]) -> TokenMatrix:
        lengths = [len(text.pieces) for text in tokens]
        starts = np.concatenate([[0], np.cumsum(lengths)[:-1]]).astype(np.int64)
        columns = np.empty((tokens[0].vectors.shape[1], sum(lengths)), dtype=np.float32)
        np.concatenate([text.vectors.T for text in tokens], axis=1, out=columns)
        return cls(columns, starts, _rarity(tokens))

    def nearest(self, question: Vectors) -> Floats:
        """For each message and each token of the question the best similarity."""
        best = np.maximum.reduceat(question @ self.columns, self.starts, axis=1)
        return best.T.astype(np.float64, order="F")

    def weights(self, pieces: Sequence[str]) -> Floats:
        most = max(self.rarity.values(), default=1.0)
        return np.array([self.rarity.get(piece, most) for piece in pieces])


def _rarity(tokens: Sequence[Tokens]) -> dict[str, float]:
    counts: dict[str, int] = {}
    for text in tokens:
        for piece in set(text.pieces):
            counts[piece] = counts.get(piece, 0) + 1
    size = len(tokens)
    return {p: float(np.log(1 + (size - c + 0.5) / (c + 0.5))) for p, c in counts.items()}
