"""The tokens of a request: as the server counts them where that can be true, else estimated."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pipelines.llm import Usage

CHARACTERS_PER_TOKEN = 3  # on the safe side; only where the server does not count
ROOM = 100_000
"""Tokens that a server may add to what we see: templates, hidden prompts, reasoning."""


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
    >>> usage_of({"prompt_tokens": -5}, sent=30, received=9, max_tokens=100).estimated
    True
    """
    counts = counted if isinstance(counted, Mapping) else {}
    prompt, reply = (counts.get(f"{part}_tokens") or 0 for part in ("prompt", "completion"))
    believed = _is_count(prompt, 4 * sent) and _is_count(reply, max(4 * received, max_tokens))
    if not believed or not prompt + reply:
        return Usage(tokens_in(sent), tokens_in(received), estimated=True)
    return Usage(
        prompt,
        reply,
        cached_tokens=_part(counts, "prompt_tokens", "cached_tokens"),
        reasoning_tokens=_part(counts, "completion_tokens", "reasoning_tokens"),
    )


def _is_count(value: Any, seen: int) -> bool:
    return type(value) is int and 0 <= value <= seen + ROOM


def _part(counts: Mapping[str, Any], whole: str, part: str) -> int:
    """Tokens that the server counts in detail; a part larger than its whole says nothing."""
    details = counts.get(f"{whole}_details")
    value = details.get(part) if isinstance(details, Mapping) else None
    return value if type(value) is int and 0 <= value <= (counts.get(whole) or 0) else 0
