"""Reading a database as it is at one moment, while others go on writing."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django.db import connection, transaction


@contextmanager
def snapshot() -> Iterator[None]:
    """All that is read within is of one moment. Nothing may be written; nobody waits.

    Within a transaction of the caller, it is that transaction's own view.
    """
    if connection.in_atomic_block:
        yield
        return
    with _read_only():
        yield


@contextmanager
def _read_only() -> Iterator[None]:
    if connection.vendor == "postgresql":
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
            yield
        return
    connection.ensure_connection()
    sqlite: Any = connection
    mode = sqlite.transaction_mode  # ours begins as a writer
    sqlite.transaction_mode = "DEFERRED"
    try:
        with transaction.atomic():
            sqlite.transaction_mode = mode
            yield
    finally:
        sqlite.transaction_mode = mode
