"""Seconds between messages, where their times are known."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

from pipelines.types import Message


def moment(message: Message) -> datetime | None:
    """An unreadable time is a missing one; one without a zone is taken for UTC."""
    if not message.time:
        return None
    try:
        found = datetime.fromisoformat(message.time)
    except ValueError:
        return None
    return found if found.tzinfo else found.replace(tzinfo=UTC)


def seconds_between(before: Message, after: Message) -> float | None:
    first, second = moment(before), moment(after)
    return None if first is None or second is None else (second - first).total_seconds()


def any_times(messages: Sequence[Message]) -> bool:
    return any(moment(message) is not None for message in messages)
