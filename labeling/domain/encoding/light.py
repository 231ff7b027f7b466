"""all-MiniLM-L6-v2 in numpy, for the ruler: it needs no torch, which takes 200 MB and seconds.

The arithmetic is that of :mod:`labeling.domain.encoding.network` in float32, it takes the same
time, and the vectors are the same, except for the last bits. Pipelines stay with that network: they
multiply in bfloat16, and change matrices. The weights stay in their file, of which the system reads
what is used.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, Self

import numpy as np

from labeling.domain.encoding import network
from labeling.domain.encoding.network import (
    DIMENSIONS,
    EPSILON,
    FEW_ROWS,
    HEADS,
    LAYERS,
    Vectors,
)

PART = DIMENSIONS // HEADS
POLYNOMIAL = (0.254829592, -0.284496736, 1.421413741, -1.453152027, 1.061405429)


class LightNetwork:
    """The weights in ``folder``, as they are."""

    def __init__(self, folder: Path) -> None:
        self._pieces: Any = network._tokenizer(folder)
        self._weights = _weights(folder / "model.safetensors")

    @classmethod
    @cache
    def kept(cls, folder: Path) -> Self:
        return cls(folder)

    def sentences(self, texts: Sequence[str]) -> Vectors:
        """One row of length 1 for each text."""
        rows = np.empty((len(texts), DIMENSIONS), dtype=np.float32)
        split = self._pieces.encode_batch([network.sound(text) for text in texts])
        lengths = [len(pieces.ids) for pieces in split]
        by_length = sorted(range(len(texts)), key=lengths.__getitem__)
        for batch in network.batches([(at, lengths[at]) for at in by_length]):
            hidden = self._forward([split[at].ids for at in batch])
            ends = np.cumsum([lengths[at] for at in batch])[:-1]
            for at, own in zip(batch, np.split(hidden, ends), strict=True):
                rows[at] = network._sentence(own)
        return rows

    def _forward(self, ids: Sequence[Sequence[int]]) -> Vectors:
        """For texts by length; their pieces follow each other."""
        lengths = [len(row) for row in ids]
        alike = network.runs(lengths)
        places = np.concatenate([np.arange(length) for length in lengths])
        rows = self._weights["embeddings.word_embeddings.weight"][np.concatenate(ids)]
        rows = rows + self._weights["embeddings.position_embeddings.weight"][places]
        rows = rows + self._weights["embeddings.token_type_embeddings.weight"][0]
        rows = self._normed(rows, "embeddings")
        for at in range(LAYERS):
            layer = f"encoder.layer.{at}"
            seen = self._attention(rows, f"{layer}.attention.self", alike)
            seen = self._product(seen, f"{layer}.attention.output.dense")
            rows = self._normed(rows + seen, f"{layer}.attention.output")
            wide = _gelu(self._product(rows, f"{layer}.intermediate.dense"))
            narrow = self._product(wide, f"{layer}.output.dense")
            rows = self._normed(rows + narrow, f"{layer}.output")
        return rows

    def _attention(self, rows: Vectors, name: str, alike: Sequence[tuple[int, int]]) -> Vectors:
        """Every piece looks at those of the same text."""
        mixed = [self._product(rows, f"{name}.{part}") for part in ("query", "key", "value")]
        seen, end = np.empty_like(rows), 0
        for count, length in alike:
            start, end = end, end + count * length
            shape = (count, length, HEADS, PART)
            asked, keys, values = (part[start:end].reshape(shape).swapaxes(1, 2) for part in mixed)
            shares = _shares(asked @ keys.swapaxes(2, 3) / PART**0.5)
            seen[start:end] = (shares @ values).swapaxes(1, 2).reshape(-1, DIMENSIONS)
        return seen

    def _product(self, rows: Vectors, name: str) -> Vectors:
        product: Vectors = rows @ self._weights[f"{name}.weight"].T
        product += self._weights[f"{name}.bias"]
        return product

    def _normed(self, rows: Vectors, name: str) -> Vectors:
        rows = rows - rows.mean(axis=1, keepdims=True)
        rows /= np.sqrt(np.square(rows).mean(axis=1, keepdims=True) + EPSILON)
        rows *= self._weights[f"{name}.LayerNorm.weight"]
        rows += self._weights[f"{name}.LayerNorm.bias"]
        return rows


def _shares(scores: Vectors) -> Vectors:
    """Of 1, along the last axis."""
    shares: Vectors = np.exp(scores - scores.max(axis=-1, keepdims=True))
    shares /= shares.sum(axis=-1, keepdims=True)
    return shares


def _gelu(rows: Vectors) -> Vectors:
    """In place, and a few rows at a time, which stay in the processor's cache meanwhile."""
    for start in range(0, len(rows), FEW_ROWS):
        part = rows[start : start + FEW_ROWS]
        size = np.abs(part)
        np.maximum(part, 0, out=part)
        part -= size * _beyond(size)
    return rows


def _beyond(size: Vectors) -> Vectors:
    """How much of a normal distribution is above each, by Abramowitz and Stegun, 7.1.26."""
    near = 1 / (1 + size * (0.3275911 * 0.5**0.5))
    much: Vectors = near * POLYNOMIAL[-1]
    for factor in POLYNOMIAL[-2::-1]:
        much += factor
        much *= near
    much *= np.exp(size * size * -0.5)
    much *= 0.5
    return much


def _weights(path: Path) -> Mapping[str, Vectors]:
    """By name, in the file: the length of a JSON text, the text, and what it describes."""
    raw = np.memmap(path, mode="r")
    start = 8 + int.from_bytes(raw[:8].tobytes(), "little")
    described = json.loads(raw[8:start].tobytes())
    described.pop("__metadata__", None)
    return {
        name: raw[slice(*(start + place for place in each["data_offsets"]))]
        .view("<f4")
        .reshape(each["shape"])
        for name, each in described.items()
        if each["dtype"] == "F32"
    }
