"""JSON from files of people, of which nothing may be lost without a word."""

from __future__ import annotations

import json
from typing import Any

from labeling.domain.errors import FileFault
from labeling.domain.facts import Fact


def shown(text: str) -> str:
    """Text from a file, short and printable, for a message of one line."""
    short = text if len(text) <= 60 else f"{text[:60]}…"
    return short if short.isprintable() else ascii(short)[1:-1]


def without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """JSON readers keep the last of two equal keys: text would be lost silently."""
    document = dict(pairs)
    if len(document) < len(pairs):
        keys = [key for key, _ in pairs]
        repeated = next(key for key in keys if keys.count(key) > 1)
        raise FileFault("file.key_twice", key=shown(repeated))
    return document


def why_no_json(error: Exception) -> Fact:
    """What a reader of JSON has raised, as a fact."""
    if isinstance(error, FileFault):
        return error.fact
    if isinstance(error, json.JSONDecodeError):
        said = error.msg.removesuffix(" at").removesuffix(" starting")
        return Fact("file.at_column", said=said, column=error.colno)
    if isinstance(error, RecursionError):
        return Fact("file.too_deep")
    return Fact("file.number_too_long")  # nothing else is refused when JSON itself is right
