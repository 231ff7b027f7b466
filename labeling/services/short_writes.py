"""Writing much without keeping others from writing."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

from django.db import connection, transaction


@contextmanager
def short_write() -> Iterator[None]:
    """One of many transactions of some 20 ms, and as long a pause after it.

    SQLite lets its writers wait in no order: who writes again at once is mostly first.
    """
    started = time.perf_counter()
    with transaction.atomic():
        yield
    if connection.vendor == "sqlite" and not connection.in_atomic_block:
        time.sleep(time.perf_counter() - started)
