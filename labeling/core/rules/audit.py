"""One hash over the events of a project: what a release states of all that was done before it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Any, NamedTuple, TypedDict


class StatedEvents(TypedDict):
    """The events of a project up to ``last``, one text a line, in the order of their numbers.

    ``open`` are numbers below it that no event had yet: PostgreSQL numbers events when they are
    written and shows them when they are committed. What comes in under these is covered by the
    next release.
    """

    last: int
    number: int
    open: list[int]
    sha256: str


class EventRecord(NamedTuple):
    """What is covered of an event.

    The person is a number: a name may be changed, and who had done it would then seem changed. A
    project's slug never changes.
    """

    pk: int
    project: str | None
    actor: int | None
    verb: str
    object_type: str
    object_id: str
    data: Any
    at: datetime


def events_sha256(events: Iterable[EventRecord]) -> tuple[int, str]:
    """How many there are, and the SHA-256 in hex over their texts, each with a line feed."""
    digest, number = hashlib.sha256(), 0
    for event in events:
        digest.update(event_text(event).encode() + b"\n")
        number += 1
    return number, digest.hexdigest()


def event_text(event: EventRecord) -> str:
    """The one way to write an event down.

    Keys are sorted, there is no white space, the time is UTC with microseconds, and whole floats
    are integers, since databases do not all keep the difference. Text is escaped: an old event may
    hold characters that are not allowed elsewhere.

    Examples
    --------
    >>> at = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
    >>> print(event_text(EventRecord(7, "p", 1, "gold.frozen", "goldrelease", "3", {"n": 2.0}, at)))
    {"actor":1,"at":"2026-01-02T03:04:05.000000+00:00","data":{"n":2},"event":7,\
"object_id":"3","object_type":"goldrelease","project":"p","verb":"gold.frozen"}
    """
    document = {
        "event": event.pk,
        "project": event.project,
        "actor": event.actor,
        "verb": event.verb,
        "object_type": event.object_type,
        "object_id": event.object_id,
        "data": event.data,
        "at": event.at.astimezone(UTC).isoformat(timespec="microseconds"),
    }
    return written(document)


def written(value: Any) -> str:
    """JSON with sorted keys and without white space, the same out of every database."""
    return json.dumps(_plain(value), sort_keys=True, separators=(",", ":"))


def _plain(value: Any) -> Any:
    match value:
        case float() if value.is_integer():
            return int(value)
        case list():
            return [_plain(item) for item in value]
        case Mapping():
            return {key: _plain(item) for key, item in value.items()}
    return value
