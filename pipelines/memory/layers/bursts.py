"""Stretches of talk without a long pause."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from pipelines.errors import fact
from pipelines.memory.times import moment
from pipelines.types import Message

Burst = tuple[Message, ...]
NO_TIMES = fact("memory.one_burst")


def bursts(messages: Sequence[Message], *, gap_seconds: float) -> list[Burst]:
    """Cut where at least ``gap_seconds`` passed; messages of the system belong to none.

    A message without a time stays with the message before it: nothing says that time passed. The
    pause is measured from the last known time. So a conversation without any time is one burst.
    """
    found: list[list[Message]] = []
    last: datetime | None = None
    for message in messages:
        if message.role == "system":
            continue
        now = moment(message)
        gap = (now - last).total_seconds() if now and last else 0.0
        if not found or gap >= gap_seconds:
            found.append([])
        found[-1].append(message)
        last = now or last
    return [tuple(burst) for burst in found]
