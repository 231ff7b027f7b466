"""Build missing layers in order, and store each as soon as it is ready."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from time import perf_counter
from typing import Any, Literal, Protocol

from pipelines.memory.layers.config import LayersConfig
from pipelines.memory.layers.nodes import Layers, Signals, Threads, Topics
from pipelines.memory.layers.signals import measure_nodes
from pipelines.memory.layers.threads import local_threads
from pipelines.memory.layers.topics import local_topics
from pipelines.types import Encoder, Message

VERSION = 2
"""Increased whenever the same conversation and settings may give other layers."""

Kind = Literal["topics", "signals", "threads"]


class Rows(Protocol):
    """Where the built layers of one conversation and configuration are kept."""

    def get(self, kind: Kind) -> Mapping[str, Any] | None: ...

    def put(self, kind: Kind, payload: Mapping[str, Any], *, seconds: float) -> None: ...


class KeptInMemory:
    """Rows for one process."""

    def __init__(self) -> None:
        self.payloads: dict[str, Mapping[str, Any]] = {}

    def get(self, kind: Kind) -> Mapping[str, Any] | None:
        return self.payloads.get(kind)

    def put(self, kind: Kind, payload: Mapping[str, Any], *, seconds: float) -> None:
        self.payloads[kind] = payload


def build_layers(
    messages: Sequence[Message],
    *,
    encoder: Encoder,
    rows: Rows,
    config: LayersConfig,
) -> Layers:
    """The layers of a conversation: stored ones, and the others built now.

    If the process stops, at most the current layer is lost.
    """

    def kept(kind: Kind, build: Callable[[], Topics | Signals | Threads]) -> Mapping[str, Any]:
        if (known := rows.get(kind)) is not None:
            return known
        started = perf_counter()
        # Through JSON: a layer read from its row must equal the layer as just built.
        built: Mapping[str, Any] = json.loads(json.dumps(build().as_json(), allow_nan=False))
        rows.put(kind, built, seconds=perf_counter() - started)
        return built

    topics = Topics.from_json(
        kept("topics", lambda: local_topics(messages, encoder=encoder, config=config))
    )
    nodes = topics.nodes
    signals = kept("signals", lambda: measure_nodes(nodes, messages, config=config))
    threads = kept(
        "threads", lambda: local_threads(nodes, messages, encoder=encoder, config=config)
    )
    return Layers(topics, Signals.from_json(signals), Threads.from_json(threads))


def key_for(config: LayersConfig, encoder: Encoder) -> str:
    """SHA-256 of everything that decides what is built, apart from the text itself."""
    decided = {
        "version": VERSION,
        "config": config.model_dump(mode="json"),
        "encoder": encoder.id,
        "model": None,  # as when a language model could build them: the keys of then stay
        "prompts": [],
    }
    return hashlib.sha256(json.dumps(decided, sort_keys=True).encode()).hexdigest()
