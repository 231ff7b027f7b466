"""JSON from files of people, of which nothing may be lost without a word."""

from __future__ import annotations

from typing import Any

from labeling.domain.errors import FileFault


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
