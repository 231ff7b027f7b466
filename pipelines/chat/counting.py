"""The tokens of a request: as the server counts them where that can be true, else estimated."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pipelines.llm import Usage

CHARACTERS_PER_TOKEN = 3  # on the safe side; only where the server does not count
ROOM = 100_000
"""Tokens that a server may add to what we see: templates, hidden prompts, reasoning."""
LONGEST_DOUBT = 80


def tokens_in(characters: int) -> int:
    return -(-characters // CHARACTERS_PER_TOKEN)


def usage_of(counted: Any, *, sent: int, received: int, max_tokens: int) -> Usage:
    """What the server says it counted, if that can be true of texts of these lengths.

    A token has at least one byte, and a character at most four.

    Examples
    --------
    >>> counted = {"prompt_tokens": 12, "completion_tokens": 3}
    >>> usage = usage_of(counted, sent=30, received=9, max_tokens=100)
    >>> usage.prompt_tokens, usage.completion_tokens, usage.estimated
    (12, 3, False)
    >>> usage_of({"prompt_tokens": -5}, sent=30, received=9, max_tokens=100).doubt
    'prompt_tokens: -5'
    >>> usage_of(None, sent=30, received=9, max_tokens=100).estimated
    True
    """
    estimate = Usage(tokens_in(sent), tokens_in(received), estimated=True)
    if not counted:
        return estimate
    limits = {
        "prompt_tokens": 4 * sent + ROOM,
        "completion_tokens": max(4 * received, max_tokens) + ROOM,
    }
    tokens: dict[str, int] = {}
    for name, limit in limits.items():
        value = counted.get(name) if isinstance(counted, Mapping) else counted
        if value is None:
            value = 0
        if type(value) is not int or not 0 <= value <= limit:
            doubt = f"{name}: {_shown(value)}"
            return Usage(
                estimate.prompt_tokens,
                estimate.completion_tokens,
                estimated=True,
                doubted=1,
                doubt=doubt,
            )
        tokens[name] = value
    if not any(tokens.values()):
        return estimate
    return Usage(
        tokens["prompt_tokens"],
        tokens["completion_tokens"],
        cached_tokens=_part(counted, "prompt_tokens", "cached_tokens"),
        reasoning_tokens=_part(counted, "completion_tokens", "reasoning_tokens"),
    )


def _part(counted: Mapping[str, Any], whole: str, part: str) -> int:
    """Tokens that the server counts in detail; a part larger than its whole says nothing."""
    details = counted.get(f"{whole}_details")
    value = details.get(part) if isinstance(details, Mapping) else None
    return value if type(value) is int and 0 <= value <= (counted.get(whole) or 0) else 0


def _shown(value: Any) -> str:
    if type(value) is int and value.bit_length() > 200:
        return f"a number of about {value.bit_length() * 3 // 10} digits"
    return "".join(sign for sign in repr(value)[:LONGEST_DOUBT] if sign.isprintable())
