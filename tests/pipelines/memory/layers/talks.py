"""Small conversations with times that can be added up by hand."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from pipelines.memory.layers.nodes import TopicNode
from pipelines.types import Message

START = datetime(2024, 1, 1, 12, tzinfo=UTC)


def talk(*turns: tuple[str, float | None, str]) -> list[Message]:
    """Messages from (speaker, seconds since the start or None, text)."""
    return [
        Message(
            index=at,
            role="speaker",
            speaker=speaker,
            content=text,
            time=None if seconds is None else (START + timedelta(seconds=seconds)).isoformat(),
        )
        for at, (speaker, seconds, text) in enumerate(turns)
    ]


def node(number: int, first: int, last: int, *, topic: str = "", burst: int = 1) -> TopicNode:
    """A node with the localIds from ``first`` to ``last``."""
    return TopicNode(
        f"T{number:03d}", burst, topic or f"topic {number}", tuple(range(first, last + 1))
    )
