"""MiniLM adapted to questions about a conversation, by small changes of its weights.

A change of a matrix is the product of two thin ones (Hu et al. 2021, LoRA: Low-Rank Adaptation of
Large Language Models). ``adapters.safetensors`` holds what was learned from all training talks, and
for each of them what was learned without it; training makes the file.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from labeling.domain.encoding.kept import networks
from labeling.domain.encoding.network import Network
from pipelines.encoder import SHORT, MiniLM, VectorCache, checked
from pipelines.memory.conversations import left_out
from pipelines.types import Encoder, Message, Vectors

ADAPTERS = Path(__file__).with_name("adapters.safetensors")
EVERY = "all"  # the key of the adapter that was trained on all conversations
LAYERS = 6
MATRICES = (
    "attention.self.query", "attention.self.key", "attention.self.value", "attention.output.dense",
    "intermediate.dense", "output.dense",
)  # fmt: skip
NAMES = tuple(f"encoder.layer.{layer}.{matrix}" for layer in range(LAYERS) for matrix in MATRICES)


class Change(NamedTuple):
    """``x @ down @ up`` is added to what a matrix makes of ``x``."""

    down: Vectors
    up: Vectors


@dataclass(frozen=True, eq=False)
class Adapter:
    """Changes by the name of the matrix."""

    changes: Mapping[str, Change]

    @cached_property
    def digest(self) -> str:
        parts = (part.astype("<f4").tobytes() for name in NAMES for part in self.changes[name])
        return hashlib.sha256(b"".join(parts)).hexdigest()


class Adapted(MiniLM):
    """MiniLM as an adapter changes it; its vectors are cached separately."""

    def __init__(
        self, adapter: Adapter, cache: VectorCache | None = None, *, folder: Path | None = None
    ) -> None:
        super().__init__(cache, folder=folder)
        self._adapter = adapter
        self.id = f"{MiniLM.id}+{adapter.digest[:12]}"

    def _network(self) -> Network:
        digest, changes = self._adapter.digest, self._adapter.changes
        return networks.get(checked(self.folder), digest, changes, short=SHORT)


def suited(encoder: Encoder, messages: Sequence[Message]) -> Encoder:
    """The encoder for a conversation: MiniLM adapted without it; any other encoder unchanged."""
    if type(encoder) is not MiniLM:
        return encoder
    return Adapted(
        shipped(left_out(ADAPTERS, messages) or EVERY), encoder.cache, folder=encoder.folder
    )


def shipped(talk: str = EVERY) -> Adapter:
    """The shipped adapter; for a conversation in its training data, one trained without it."""
    return _read(talk if talk in talks() else EVERY)


@cache
def talks() -> frozenset[str]:
    """The conversations that have a separate adapter."""
    from safetensors import safe_open

    with safe_open(ADAPTERS, framework="numpy") as file:
        names = file.keys()
    return frozenset(name.split("/")[0] for name in names) - {EVERY}


@cache
def _read(talk: str) -> Adapter:
    """Once, so that all conversations with the same adapter share one model."""
    from safetensors import safe_open

    with safe_open(ADAPTERS, framework="numpy") as file:
        return Adapter({name: _change(file, talk, name) for name in NAMES})


def _change(file: Any, talk: str, matrix: str) -> Change:
    parts = (file.get_tensor(part_name(talk, matrix, way)) for way in Change._fields)
    return Change(*(part.astype(np.float32) for part in parts))


def part_name(talk: str, matrix: str, way: str) -> str:
    return f"{talk}/{matrix}/{way}"
