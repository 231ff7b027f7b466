"""What was asked of language models and what it cost: of a call, a piece of work or a run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any

from pipelines.llm import Reply, Usage

StoredUsage = dict[str, Any]
"""The ``usage`` of a piece of work, by the names below; what is nothing may be left out of it."""

OPTIONAL = frozenset({"cached_tokens", "reasoning_tokens", "schema_by"})


@dataclass(frozen=True, slots=True)
class Spent:
    calls: int = 0
    cached: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost: float | None = 0.0
    """None where no price is known, or was not known for some case."""
    seconds: float = 0.0
    estimated: int = 0
    """Calls of which some tokens, and so their cost, are our estimate."""
    cached_tokens: int = 0
    """Of the prompts, what the provider had kept from before."""
    reasoning_tokens: int = 0
    schema_by: Sequence[str] = ()
    """How schemas were asked for where the server took no strict ones."""
    models: Sequence[str] = ()
    """Those that replied, as the server named them."""

    @classmethod
    def of_call(cls, usage: Usage, seconds: float, reply: Reply | None = None) -> Spent:
        """``reply`` is None where the call has failed."""
        return cls(
            calls=1,
            cached=int(reply is not None and reply.cached),
            prompt_tokens=usage.prompt_tokens,
            completion_tokens=usage.completion_tokens,
            cost=usage.cost,
            seconds=seconds,
            estimated=int(usage.estimated),
            cached_tokens=usage.cached_tokens,
            reasoning_tokens=usage.reasoning_tokens,
            schema_by=sorted({reply.schema_by} - {"", "strict"}) if reply else (),
            models=[reply.model] if reply and reply.model else (),
        )

    @classmethod
    def read(cls, stored: Mapping[str, Any]) -> Spent:
        known = {field.name: stored[field.name] for field in fields(cls) if field.name in stored}
        return cls(**known | {"estimated": int(bool(stored.get("estimated")))})

    def as_json(self) -> StoredUsage:
        document = asdict(self) | {
            "estimated": self.estimated > 0,
            "seconds": round(self.seconds, 3),
            "models": [*self.models],
        }
        return {name: value for name, value in document.items() if value or name not in OPTIONAL}

    @property
    def tokens(self) -> int:
        return self.prompt_tokens + self.completion_tokens

    def __add__(self, other: Spent) -> Spent:
        theirs = asdict(other)
        return Spent(**{name: _sum(value, theirs[name]) for name, value in asdict(self).items()})


def _sum(one: Any, other: Any) -> Any:
    """Of money that is not known everywhere the sum is not known; names are listed once."""
    if one is None or other is None:
        return None
    return one + other if isinstance(one, int | float) else sorted({*one, *other})


def together(before: Mapping[str, Any], now: Spent) -> StoredUsage:
    """The usage of a case over its attempts: what a failed one cost was spent all the same."""
    return (Spent.read(before) + now if before.get("calls") else now).as_json()
