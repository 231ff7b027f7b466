"""What the planner of SQLite knows of its tables: without it, it picks indexes by guessing.

PostgreSQL counts its rows by itself. SQLite has to be asked after much has changed: after an import
and a run, and after a migration that wrote a table again.
"""

from __future__ import annotations

from django.db import connection

LOOKED_AT = 100_000
"""Rows of each index. Of a thousand, SQLite takes a round of most conversations for a small one,
and reads all of it to find the answers to a hundred of them."""


def count() -> None:
    if connection.vendor == "sqlite":
        with connection.cursor() as cursor:
            cursor.execute(f"PRAGMA analysis_limit = {LOOKED_AT}")
            cursor.execute("ANALYZE")
