"""The audit log as a chain: each link's hash covers an event and the hash of the link before it.

Anyone who knows a later hash can prove every event up to it: a changed, missing, added or moved
event changes all hashes after it.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple, TypedDict

START = "0" * 64
"""What the first link has in place of the hash of the link before it."""

TOLERANCE = timedelta(hours=1)
"""How much older than the events before it an event may be.

The time is that of writing, and a long transaction commits after shorter ones; clocks of several
web servers differ. Older than that, it was written later than it says.
"""


class AuditHead(TypedDict):
    """The end of the chain at a moment: what a signed statement says about the log."""

    position: int
    event: int
    sha256: str


class EventRecord(NamedTuple):
    """What a link covers of an event.

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


def event_text(event: EventRecord) -> str:
    """The one way to write an event down.

    Keys are sorted, there is no white space, the time is UTC with microseconds, and whole floats
    are integers, since databases do not all keep the difference. Text is escaped: an old event may
    hold characters that are not allowed elsewhere, and must not stop the chain.

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
        "data": _plain(event.data),
        "at": event.at.astimezone(UTC).isoformat(timespec="microseconds"),
    }
    return json.dumps(document, sort_keys=True, separators=(",", ":"))


def link_sha256(previous: str, text: str) -> str:
    """SHA-256 in hex over the hash of the link before, a line feed, and an event's text.

    Examples
    --------
    >>> link_sha256(START, "{}") == link_sha256(START, "{ }")
    False
    """
    return hashlib.sha256(f"{previous}\n{text}".encode()).hexdigest()


def _plain(value: Any) -> Any:
    match value:
        case float() if value.is_integer():
            return int(value)
        case list():
            return [_plain(item) for item in value]
        case Mapping():
            return {key: _plain(item) for key, item in value.items()}
    return value
