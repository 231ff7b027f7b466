"""What the planner of SQLite knows of its tables: without it, it picks indexes by guessing.

PostgreSQL counts its rows by itself. SQLite has to be asked, and forgets what it knows of a table
that a migration writes again: of 300,000 answers, finding a hundred by their keys then takes a
second instead of a millisecond.
"""

from __future__ import annotations

import time

from django.apps import apps
from django.db import connection

SMALL = 1000
"""Rows: of fewer, no index makes a difference."""
GROWTH = 4
LOOKED_AT = 100_000
"""Rows of each index. Of a thousand, SQLite takes a round of 90,000 conversations for one of 334,
and reads all of it to find the answers to a hundred of them."""
EVERY_SECONDS = 60

_next = 0.0
_counted: dict[str, int] = {}
"""The highest key of each table when this process had them counted; keys may have gaps."""


def keep_up() -> None:
    """Count again where nothing is known of a large table, or it has grown by much.

    For a worker's sweep; it looks once a minute. Counting keeps other writers waiting for 0.2 s
    with a database of 1 GB.
    """
    global _next
    if connection.vendor != "sqlite" or time.monotonic() < _next:
        return
    _next = time.monotonic() + EVERY_SECONDS
    highest = _highest()
    known = _known()
    if any(
        key >= SMALL and key > GROWTH * max(known.get(table, 0), _counted.get(table, 0))
        for table, key in highest.items()
    ):
        with connection.cursor() as cursor:
            cursor.execute(f"PRAGMA analysis_limit = {LOOKED_AT}")
            cursor.execute("ANALYZE")
        _counted.update(highest)


def _highest() -> dict[str, int]:
    """Of each table that counts its rows; a table's last key is read without its other rows."""
    tables = [
        model._meta.db_table
        for model in apps.get_models(include_auto_created=True)
        if model._meta.auto_field and model._meta.managed
    ]
    with connection.cursor() as cursor:
        highest = (f"SELECT '{table}', COALESCE(MAX(rowid), 0) FROM {table}" for table in tables)
        cursor.execute(" UNION ALL ".join(highest))
        return dict(cursor.fetchall())


def _known() -> dict[str, int]:
    """How many rows each table had when it was counted; before the first time there is no list."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1 FROM sqlite_master WHERE name = 'sqlite_stat1'")
        if cursor.fetchone() is None:
            return {}
        cursor.execute("SELECT tbl, MAX(CAST(stat AS INTEGER)) FROM sqlite_stat1 GROUP BY tbl")
        return dict(cursor.fetchall())
