"""What a part of a pipeline's work asks of a language model, counted."""

from __future__ import annotations

from collections.abc import Sequence
from time import perf_counter
from typing import Any

from pipelines.llm import NO_USAGE, ChatMessage, ChatModel, Reply


class Metered:
    """The model, and what was asked of it so far."""

    def __init__(self, model: ChatModel) -> None:
        self._model = model
        self._calls = 0
        self._cached = 0
        self._retries = 0
        self._seconds = 0.0
        self._spent = NO_USAGE

    @property
    def id(self) -> str:
        return self._model.id

    def complete(
        self,
        messages: Sequence[ChatMessage],
        *,
        schema: dict[str, Any] | None = None,
        repetition: int = 0,
    ) -> Reply:
        started = perf_counter()
        reply = self._model.complete(messages, schema=schema, repetition=repetition)
        self._seconds += perf_counter() - started
        self._calls += 1
        self._cached += reply.cached
        self._retries += reply.retries
        self._spent = self._spent + reply.usage
        return reply

    def as_json(self) -> dict[str, Any]:
        return {
            "calls": self._calls,
            "cached": self._cached,
            "retries": self._retries,
            "prompt_tokens": self._spent.prompt_tokens,
            "completion_tokens": self._spent.completion_tokens,
            "cost": self._spent.cost,
            "seconds": round(self._seconds, 3),
        }
