"""What a pipeline needs from a language model, what it spends, and how a model can fail."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from pipelines.errors import PipelineError
from pipelines.types import JsonSchema


@dataclass(frozen=True, slots=True)
class ChatMessage:
    role: Literal["system", "user", "assistant"]
    content: str


@dataclass(frozen=True, slots=True)
class Usage:
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost: float | None = None
    """``None`` where the price is not known; never a silent 0."""
    estimated: bool = False
    """The server didn't count, or nothing that can be true: estimated by the length of texts."""
    cached_tokens: int = 0
    """Of the prompt, what the provider had kept from before."""
    reasoning_tokens: int = 0
    """Of the reply, what the model thought."""

    def __add__(self, other: Usage) -> Usage:
        known = self.cost is not None and other.cost is not None
        return Usage(
            self.prompt_tokens + other.prompt_tokens,
            self.completion_tokens + other.completion_tokens,
            (self.cost or 0.0) + (other.cost or 0.0) if known else None,
            self.estimated or other.estimated,
            self.cached_tokens + other.cached_tokens,
            self.reasoning_tokens + other.reasoning_tokens,
        )


NO_USAGE = Usage(cost=0.0)


@dataclass(frozen=True, slots=True)
class Reply:
    text: str
    data: Any = None
    """The parsed reply when a schema was asked for."""
    usage: Usage = field(default_factory=Usage)
    """What was spent on it, retries included; nothing for a reply from the cache."""
    cached: bool = False
    model: str = ""
    """The model as the server named it."""
    schema_by: str = ""
    """How the schema was asked for: ``strict``, or ``words`` where the server takes none; empty
    where none was."""


class ChatModel(Protocol):
    @property
    def id(self) -> str:
        """``provider/model``."""

    def complete(
        self,
        messages: Sequence[ChatMessage],
        *,
        schema: JsonSchema | None = None,
        repetition: int = 0,
    ) -> Reply:
        """``schema`` is asked for strictly where it can be; see ``pipelines.chat.strict``.

        What several requests share stands first in ``messages``, word for word the same, and what
        is asked last: servers keep what they have read of a beginning.
        """


CONTEXT_TOKENS = 128_000


def context_of(model: ChatModel) -> int:
    """The tokens that prompt and reply may have together."""
    return int(getattr(model, "context_tokens", CONTEXT_TOKENS))


class ModelError(PipelineError):
    """The model didn't give a usable reply."""

    usage: Usage = NO_USAGE
    """What was spent before it failed."""


class RateLimited(ModelError):
    """Too many requests; ``retry_after`` is in seconds where the server says it."""

    def __init__(self, code: str, /, *, retry_after: float | None = None, **values: Any) -> None:
        super().__init__(code, **values)
        self.retry_after = retry_after


class Unavailable(ModelError):
    """The server failed, dropped the connection or took too long."""


class InvalidReply(ModelError):
    """The reply is not what was asked for, even after repair."""

    text = ""
    """The last reply, where it was read."""


class TooLargeReply(InvalidReply):
    """The reply is longer than what is read; it was paid all the same."""


class Refused(ModelError):
    """The model declined to answer."""


class WrongKey(ModelError):
    """The server doesn't accept the key."""


class UnknownModel(ModelError):
    """The server doesn't have this model, or there is nothing at this address."""


class PromptTooLong(ModelError):
    """The prompt doesn't fit into the model's context."""


class NoQuota(ModelError):
    """The provider's account has no quota left."""


class OutOfTime(ModelError):
    """The time for this request is used up."""


class OverBudget(ModelError):
    """The run's budget is used up."""
