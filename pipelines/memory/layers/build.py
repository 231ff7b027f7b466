"""Build missing layers in order, and store each as soon as it is ready."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from time import perf_counter
from typing import Any, Literal, Protocol

from pipelines.errors import InvalidSetting
from pipelines.llm import ChatModel
from pipelines.memory.layers.config import LayersConfig
from pipelines.memory.layers.language import PROMPT_IDS, model_ratings, model_threads, model_topics
from pipelines.memory.layers.nodes import Layers, Signals, Threads, TopicNode, Topics
from pipelines.memory.layers.signals import measure_nodes
from pipelines.memory.layers.threads import local_threads
from pipelines.memory.layers.topics import local_topics
from pipelines.types import Encoder, Message

VERSION = 1
"""Increased whenever the same conversation and settings may give other layers."""

Kind = Literal["topics", "signals", "threads"]
KINDS: tuple[Kind, ...] = ("topics", "signals", "threads")
Progress = Callable[[Kind, int, int], None]
"""Called with the current layer, how much of it is done, and how much there is."""


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
    model: ChatModel | None = None,
    progress: Progress | None = None,
) -> Layers:
    """The layers of a conversation: stored ones, and the others built now.

    If the process stops, at most the current layer is lost. ``config.implementation``
    decides whether ``model`` is used; asking for a model without having one is an error, not a
    fallback.
    """
    builder = _Builder(messages, encoder, config, _model_for(config, model), progress)
    topics = Topics.from_json(_kept(rows, "topics", builder.topics))
    signals = Signals.from_json(_kept(rows, "signals", lambda: builder.signals(topics.nodes)))
    threads = Threads.from_json(_kept(rows, "threads", lambda: builder.threads(topics.nodes)))
    return Layers(topics, signals, threads)


def key_for(config: LayersConfig, encoder: Encoder, model: ChatModel | None) -> str:
    used = _model_for(config, model)
    return layers_key(config, encoder_id=encoder.id, model_id=used.id if used else None)


def _model_for(config: LayersConfig, model: ChatModel | None) -> ChatModel | None:
    if config.implementation == "local":
        return None
    if model is None:
        raise InvalidSetting("pipeline.layers_need_model", setting="implementation")
    return model


def _kept(
    rows: Rows, kind: Kind, build: Callable[[], Topics | Signals | Threads]
) -> Mapping[str, Any]:
    known = rows.get(kind)
    if known is not None:
        return known
    started = perf_counter()
    # Through JSON: a layer read from its row must equal the layer as just built.
    payload: Mapping[str, Any] = json.loads(json.dumps(build().as_json(), allow_nan=False))
    rows.put(kind, payload, seconds=perf_counter() - started)
    return payload


class _Builder:
    def __init__(
        self,
        messages: Sequence[Message],
        encoder: Encoder,
        config: LayersConfig,
        model: ChatModel | None,
        progress: Progress | None,
    ) -> None:
        self._messages, self._encoder, self._config = messages, encoder, config
        self._model, self._progress = model, progress

    def topics(self) -> Topics:
        tell = self._reporter("topics")
        if self._model:
            return model_topics(
                self._messages, model=self._model, config=self._config, progress=tell
            )
        warm(self._messages, self._encoder, tell)
        return local_topics(self._messages, encoder=self._encoder, config=self._config)

    def signals(self, nodes: Sequence[TopicNode]) -> Signals:
        tell = self._reporter("signals")
        if not self._model:
            return measure_nodes(nodes, self._messages, config=self._config, progress=tell)
        ratings, problems = model_ratings(nodes, self._messages, model=self._model, progress=tell)
        measured = measure_nodes(nodes, self._messages, config=self._config, ratings=ratings)
        return replace(measured, problems=tuple(problems), model=self._model.id)

    def threads(self, nodes: Sequence[TopicNode]) -> Threads:
        tell = self._reporter("threads")
        if not self._model:
            return local_threads(nodes, self._messages, encoder=self._encoder, config=self._config)
        return model_threads(
            nodes, self._messages, encoder=self._encoder, model=self._model, progress=tell
        )

    def _reporter(self, kind: Kind) -> Callable[[int, int], None]:
        def tell(done: int, total: int) -> None:
            if self._progress:
                self._progress(kind, done, total)

        tell(0, 0)
        return tell


AT_ONCE = 256


def warm(messages: Sequence[Message], encoder: Encoder, tell: Callable[[int, int], None]) -> None:
    """Encode in large parts and report progress; later steps find the vectors in the cache."""
    texts = list(dict.fromkeys(message.content for message in messages))
    for start in range(0, len(texts), AT_ONCE):
        encoder.encode(texts[start : start + AT_ONCE])
        tell(min(start + AT_ONCE, len(texts)), len(texts))


def layers_key(config: LayersConfig, *, encoder_id: str, model_id: str | None) -> str:
    """SHA-256 of everything that decides what is built, apart from the text itself."""
    decided = {
        "version": VERSION,
        "config": config.model_dump(mode="json"),
        "encoder": encoder_id,
        "model": model_id,
        "prompts": list(PROMPT_IDS) if model_id else [],
    }
    return hashlib.sha256(json.dumps(decided, sort_keys=True).encode()).hexdigest()
