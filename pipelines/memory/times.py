"""Times of messages, where they are known, and bursts: stretches of talk without a long pause."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, date, datetime

from pipelines.errors import fact
from pipelines.memory.dates import Days
from pipelines.types import Message

Burst = tuple[Message, ...]
NO_TIMES = fact("memory.one_burst")


def moment(message: Message) -> datetime | None:
    """An unreadable time counts as missing; one without a zone counts as UTC."""
    if not message.time:
        return None
    try:
        time = datetime.fromisoformat(message.time)
    except ValueError:
        return None
    return time if time.tzinfo else time.replace(tzinfo=UTC)


def days_of(messages: Sequence[Message]) -> tuple[date | None, ...]:
    times = map(moment, messages)
    return tuple(time.date() if time else None for time in times)


def span_of(days: Sequence[date | None]) -> Days | None:
    known = [day for day in days if day is not None]
    return Days(min(known), max(known)) if known else None


def seconds_between(before: Message, after: Message) -> float | None:
    first, second = moment(before), moment(after)
    return None if first is None or second is None else (second - first).total_seconds()


def bursts(messages: Sequence[Message], *, gap_seconds: float) -> list[Burst]:
    """Cut where at least ``gap_seconds`` passed; messages of the system belong to none.

    A message without a time stays with the previous message: nothing shows that time passed. The
    pause is measured from the last known time. So a conversation without any time is one burst.
    """
    runs: list[list[Message]] = []
    last: datetime | None = None
    for message in messages:
        if message.role == "system":
            continue
        now = moment(message)
        gap = (now - last).total_seconds() if now and last else 0.0
        if not runs or gap >= gap_seconds:
            runs.append([])
        runs[-1].append(message)
        last = now or last
    return [tuple(burst) for burst in runs]
