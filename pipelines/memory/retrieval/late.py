"""Late interaction: every word of the question looks for its nearest word in the message."""

from __future__ import annotations

import hashlib
import io
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pipelines.types import Encoder, Store, Vectors

Floats = NDArray[np.float64]
FORMAT = "3"  # of the stored format; changes with what is computed


class Tokens(NamedTuple):
    """The pieces of one text, and one L2-normalised row for each."""

    pieces: tuple[str, ...]
    vectors: Vectors


class Encoded(NamedTuple):
    """A text as one row, and as a row for each of its pieces."""

    sentence: Vectors
    tokens: Tokens


def encode_both(texts: Sequence[str], encoder: Encoder) -> dict[str, Encoded]:
    """By text, each text once, in one pass."""
    different = list(dict.fromkeys(texts))
    sentences, tokens = encoder.encode_both(different)
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


def matrices(
    texts: Sequence[str], encoder: Encoder, store: Store | None
) -> tuple[Vectors, TokenMatrix]:
    key = _key(texts, encoder)
    kept = store.get(key) if store is not None else None
    if kept is None:
        encoded = encode_both(texts, encoder)
        vectors = np.stack([encoded[text].sentence for text in texts])
        kept = _packed(vectors, [encoded[text].tokens for text in texts])
        if store is not None:
            store.put(key, kept)
    vectors, tokens = _unpacked(kept)  # as it is stored, so that both ways rank the same
    return vectors, TokenMatrix.of(tokens)


def _key(texts: Sequence[str], encoder: Encoder) -> str:
    digest = hashlib.sha256("\0".join([FORMAT, encoder.id, *texts]).encode("utf-8", "replace"))
    return f"retrieval-{digest.hexdigest()}"


def _packed(vectors: Vectors, tokens: Sequence[Tokens]) -> bytes:
    file = io.BytesIO()
    np.savez(
        file,
        vectors=vectors,
        tokens=np.concatenate([token.vectors for token in tokens]).astype(np.float16),
        lengths=np.array([len(token.pieces) for token in tokens]),
        pieces=np.array([piece for token in tokens for piece in token.pieces]),
    )
    return file.getvalue()


def _unpacked(kept: bytes) -> tuple[Vectors, list[Tokens]]:
    with np.load(io.BytesIO(kept), allow_pickle=False) as file:
        vectors: Vectors = file["vectors"]
        ends = np.cumsum(file["lengths"])[:-1]
        rows = np.split(file["tokens"].astype(np.float32), ends)
        pieces = np.split(file["pieces"], ends)
    return vectors, [Tokens(tuple(map(str, p)), row) for p, row in zip(pieces, rows, strict=True)]
