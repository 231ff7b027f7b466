"""MiniLM adapted to questions about a conversation, by small changes of its weights.

A change of a matrix is the product of two thin ones (Hu et al. 2021, LoRA: Low-Rank Adaptation of
Large Language Models). ``adapters.safetensors`` holds what was learned from all training talks, and
for each group of people what was learned without their talks; training makes the file.
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
EVERY = "all"  # the set that was trained on all conversations
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
    """The encoder for a conversation: MiniLM adapted without its people; any other unchanged."""
    if type(encoder) is not MiniLM:
        return encoder
    return Adapted(
        shipped(left_out(ADAPTERS, messages) or EVERY), encoder.cache, folder=encoder.folder
    )


@cache
def shipped(without: str = EVERY) -> Adapter:
    """The adapter of a set, once, so that all conversations of a set share one model."""
    from safetensors import safe_open

    with safe_open(ADAPTERS, framework="numpy") as file:
        return Adapter({name: _change(file, without, name) for name in NAMES})


def _change(file: Any, without: str, matrix: str) -> Change:
    parts = (file.get_tensor(part_name(without, matrix, way)) for way in Change._fields)
    return Change(*(part.astype(np.float32) for part in parts))


def part_name(without: str, matrix: str, way: str) -> str:
    return f"{without}/{matrix}/{way}"
