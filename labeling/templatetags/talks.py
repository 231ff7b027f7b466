"""Times of messages: a date, or how far into a recording it was said."""

from __future__ import annotations

from datetime import UTC, datetime

from django import template
from django.utils.formats import date_format
from django.utils.timezone import localtime

from labeling.conversations.formats.talks import BEGINNING

register = template.Library()


@register.filter
def said_at(time: datetime | str) -> str:
    """``5 Mar 2026 10:07``, or ``0:01:02`` where a file counts from the start of a recording.

    Gold has times as text, in ISO 8601.
    """
    if isinstance(time, str):
        time = datetime.fromisoformat(time)
    time = time if time.tzinfo else time.replace(tzinfo=UTC)
    if time.date() == BEGINNING.date():
        since = time - BEGINNING
        return str(since).partition(".")[0]
    return date_format(localtime(time), "j M Y H:i")
