"""Django's SQLite: statements are rewritten once, and who waits to write looks often.

SQLite's own waiting looks again after 1, 2, 5 and in the end 100 milliseconds: nobody writes for a
while though many wait, and who has waited longest looks least often. It also has the connection to
itself meanwhile. Python may clear away a cursor in any thread: where the one that writes clears one
of a connection that waits for it, both would wait for each other. So connections don't wait
(``busy_timeout`` is 0), but the threads do between two looks.
"""

from __future__ import annotations

import sqlite3
from functools import lru_cache
from time import monotonic, sleep
from typing import Any

from django.db.backends.sqlite3 import base

FIRST_PAUSE, LONGEST_PAUSE = 0.0005, 0.005  # seconds
LONGEST_KEPT = 5_000  # letters; what stores many rows at once is seldom the same
TAKEN = {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_BUSY_RECOVERY}


class Cursor(base.SQLiteCursorWrapper):
    patience = 0.0
    """For how many seconds a statement waits until others have written."""

    def execute(self, query: str, params: Any = None) -> Any:
        end, pause = monotonic() + self.patience, FIRST_PAUSE
        while True:
            try:
                return super().execute(query, params)
            except sqlite3.OperationalError as error:
                if error.sqlite_errorcode not in TAKEN or monotonic() > end:
                    raise
            sleep(pause)
            pause = min(1.5 * pause, LONGEST_PAUSE)

    def convert_query(self, query: str, *, param_names: list[str] | None = None) -> str:
        if param_names is None and len(query) <= LONGEST_KEPT:
            return _converted(query)
        return super().convert_query(query, param_names=param_names)


@lru_cache(maxsize=1_000)
def _converted(query: str) -> str:
    """As Django does it each time, which takes as long as carrying out a short statement."""
    return base.FORMAT_QMARK_REGEX.sub("?", query).replace("%%", "%")


class DatabaseWrapper(base.DatabaseWrapper):
    def get_new_connection(self, conn_params: dict[str, Any]) -> Any:
        connection = super().get_new_connection(conn_params)
        connection.execute("PRAGMA busy_timeout = 0")
        return connection

    def create_cursor(self, name: str | None = None) -> Any:
        cursor = self.connection.cursor(factory=Cursor)
        cursor.patience = self.settings_dict["OPTIONS"].get("timeout", 5.0)
        return cursor
