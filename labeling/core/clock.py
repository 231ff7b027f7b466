"""The database's time where it has to be a value: machines that label may have other clocks.

Each connection is asked once, when it is opened, how far this machine's clock is from the
database's. SQLite is on this machine and has its clock.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from django.db import connection
from django.db.backends.signals import connection_created
from django.utils import timezone

TOLERATED = timedelta(seconds=1)
"""A smaller difference may be the way there and back."""


def now() -> datetime:
    offset: timedelta = getattr(connection, "clock_offset", timedelta())
    return timezone.now() + offset


def measure(connection: Any, **kwargs: Any) -> None:
    if connection.vendor == "postgresql":
        offset = offset_of(connection)
        connection.clock_offset = offset if abs(offset) > TOLERATED else timedelta()


def offset_of(connection: Any) -> timedelta:
    """How far PostgreSQL's clock is ahead, as far as the way there and back doesn't explain it."""
    with connection.cursor() as cursor:
        before = timezone.now()
        cursor.execute("SELECT clock_timestamp()")
        (there,) = cursor.fetchone()
        after = timezone.now()
    return min(there - before, max(there - after, timedelta()))


def start() -> None:
    connection_created.connect(measure, dispatch_uid="clock")
