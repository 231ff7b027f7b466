"""Where a model is, how it is asked, and what it costs: one entry of the settings."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated
from urllib.parse import urlsplit, urlunsplit

from pydantic import BaseModel, ConfigDict, Field

from pipelines.llm import Usage

MILLION = 1_000_000
DEFAULT, JUDGE = "default", "judge"
"""The entries that settings of their own declare, ``LLM_…`` and ``JUDGE_…``."""
OF_JUDGE = {"model", "base_url", "api_key", "input_price", "output_price"}
"""Its other settings are those of ``LLM_…``."""
OPENAI = "https://api.openai.com/v1"

Price = Annotated[float | None, Field(ge=0, allow_inf_nan=False)]


class Endpoint(BaseModel):
    """``repr`` never shows the key."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str = DEFAULT
    """Of the entry, by which a run chooses it."""
    model: str = Field(min_length=1, max_length=200)
    base_url: str = Field(default=OPENAI, pattern=r"^https?://\S+$")
    provider: str = ""
    """Empty: the host of the address."""
    key: str | None = None
    """The name of the variable that holds the key; ``None``: no file declares this model."""
    api_key: str = Field(default="", repr=False)
    temperature: float | None = Field(default=None, ge=0, allow_inf_nan=False)
    """``None``: none is sent, and the server's default holds."""
    reasoning_effort: str = Field(default="", pattern=r"^[a-z]*$")
    """Empty: none is sent."""
    max_tokens: int = Field(default=16_000, ge=1)
    """Of one reply, with its reasoning."""
    context_tokens: int = Field(default=128_000, ge=1)
    """What prompt and reply may have together; pipelines divide what is longer."""
    timeout_seconds: float = Field(default=600.0, ge=0.1, allow_inf_nan=False)
    """Wall-clock limit of one request, from the first byte sent to the last received."""
    max_reply_bytes: int = Field(default=4 * 1024 * 1024, ge=1)
    """Of one reply; a longer one is not read to its end."""
    max_concurrency: int = Field(default=16, ge=1, le=1024)
    """Requests in flight from one process."""
    input_price: Price = None
    """Price of a million prompt tokens; ``None``: not known."""
    cached_price: Price = None
    """Of a million prompt tokens that the provider had kept; ``None``: as ``input_price``."""
    output_price: Price = None

    def setting(self, field: str) -> str:
        """What holds this field, for errors that say what to correct."""
        if self.key is not None:
            return self.key if field == "api_key" and self.key else f"{self.name}.{field}"
        judging = self.name == JUDGE and field in OF_JUDGE
        return f"{'JUDGE' if judging else 'LLM'}_{field.upper()}"

    @property
    def id(self) -> str:
        return f"{self.provider or _host(self.base_url)}/{self.model}"

    @property
    def address(self) -> str:
        """Which server it is: the base URL without a name or password in it."""
        parts = urlsplit(self.base_url.rstrip("/"))
        return urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2]))

    @property
    def parameters(self) -> Mapping[str, object]:
        """What may change a reply in addition to the messages."""
        effort = {"reasoning_effort": self.reasoning_effort} if self.reasoning_effort else {}
        return {"temperature": self.temperature, "max_tokens": self.max_tokens, **effort}

    @property
    def priced(self) -> bool:
        return self.input_price is not None and self.output_price is not None

    def cost(self, usage: Usage) -> float | None:
        """Tokens of reasoning are among those of the reply, and cached ones among the prompt's."""
        if self.input_price is None or self.output_price is None:
            return None
        kept = self.input_price if self.cached_price is None else self.cached_price
        read = (usage.prompt_tokens - usage.cached_tokens) * self.input_price
        read += usage.cached_tokens * kept
        return (read + usage.completion_tokens * self.output_price) / MILLION


def _host(base_url: str) -> str:
    host = urlsplit(base_url).hostname or "local"
    return "openai" if host == "api.openai.com" else host
