from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypedDict
from urllib.parse import urlsplit, urlunsplit

from pipelines.llm import Usage

MILLION = 1_000_000


class Parameters(TypedDict):
    """What may change a reply in addition to the messages."""

    temperature: float | None
    max_tokens: int


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where a model is and how to call it. ``repr`` never shows the key."""

    model: str
    base_url: str
    provider: str
    api_key: str = field(default="", repr=False)
    temperature: float | None = 0.0
    """``None``: the server's default."""
    max_tokens: int = 4096
    timeout_seconds: float = 60.0
    """Wall-clock limit of one request, from the first byte sent to the last received."""
    max_reply_bytes: int = 4 * 1024 * 1024
    """Of one reply, as it is sent and unpacked; a longer one is not read to its end."""
    max_concurrency: int = 4
    input_price: float | None = None
    """Price of a million prompt tokens; ``None``: not known."""
    output_price: float | None = None
    settings: str = "LLM"
    """The prefix of its settings' names, for errors that say what to correct."""

    @property
    def id(self) -> str:
        return f"{self.provider}/{self.model}"

    @property
    def address(self) -> str:
        """Which server it is: the base URL without a name or password in it."""
        parts = urlsplit(self.base_url.rstrip("/"))
        return urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2]))

    @property
    def parameters(self) -> Parameters:
        return {"temperature": self.temperature, "max_tokens": self.max_tokens}

    @property
    def priced(self) -> bool:
        return self.input_price is not None and self.output_price is not None

    def cost(self, usage: Usage) -> float | None:
        if self.input_price is None or self.output_price is None:
            return None
        return (
            usage.prompt_tokens * self.input_price + usage.completion_tokens * self.output_price
        ) / MILLION
