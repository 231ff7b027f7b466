"""What the planner of SQLite knows of its tables: without it, it picks indexes by guessing.

PostgreSQL counts its rows by itself. SQLite has to be asked after much has changed: after an import
and a run, and after a migration that wrote a table again.
"""

from __future__ import annotations

from django.db import connection
from django.db.models import Count

from labeling.models import Project

SQLITE_CONVERSATIONS = 10_000
"""Of one import, and of a project that is served well by SQLite."""
LOOKED_AT = 100_000
"""Rows of each index. Of a thousand, SQLite takes a round of most conversations for a small one,
and reads all of it to find the answers to a hundred of them."""


def count() -> None:
    if connection.vendor == "sqlite":
        with connection.cursor() as cursor:
            cursor.execute(f"PRAGMA analysis_limit = {LOOKED_AT}")
            cursor.execute("ANALYZE")


def beyond_sqlite() -> list[Project]:
    """The projects that have grown larger than SQLite serves well; none on PostgreSQL."""
    if connection.vendor != "sqlite":
        return []
    sized = Project.objects.annotate(size=Count("conversations"))
    return list(sized.filter(size__gt=SQLITE_CONVERSATIONS).order_by("name"))
