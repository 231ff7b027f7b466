"""Django's SQLite: statements are rewritten once, and writers look often whether it is their turn.

SQLite's own writers look again after 1, 2, 5 and in the end 100 milliseconds: nobody writes for a
while though many wait, and who has waited longest looks least often.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from time import monotonic, sleep
from typing import Any

from django.db import OperationalError
from django.db.backends.sqlite3 import base

FIRST_PAUSE, LONGEST_PAUSE = 0.0005, 0.005  # seconds
LONGEST_KEPT = 5_000  # letters; what stores many rows at once is seldom the same


class Cursor(base.SQLiteCursorWrapper):
    def convert_query(self, query: str, *, param_names: list[str] | None = None) -> str:
        if param_names is None and len(query) <= LONGEST_KEPT:
            return _converted(query)
        return super().convert_query(query, param_names=param_names)


@lru_cache(maxsize=1_000)
def _converted(query: str) -> str:
    """As Django does it each time, which takes as long as carrying out a short statement."""
    return base.FORMAT_QMARK_REGEX.sub("?", query).replace("%%", "%")


class DatabaseWrapper(base.DatabaseWrapper):
    def create_cursor(self, name: str | None = None) -> Any:
        return self.connection.cursor(factory=Cursor)

    def _start_transaction_under_autocommit(self) -> None:
        """Wait between looks, never within one, which has the connection to itself.

        The collector of a thread may clear away what others left of their looks. Where it is the
        thread that writes, it would wait for a connection that waits for it.
        """
        patience: float = self.settings_dict["OPTIONS"].get("timeout", 5.0)
        end, pause = monotonic() + patience, FIRST_PAUSE
        with self._without_waiting(patience):
            while True:
                try:
                    super()._start_transaction_under_autocommit()  # type: ignore[misc]
                    return
                except OperationalError as error:
                    if not _is_taken(error) or monotonic() > end:
                        raise
                sleep(pause)
                pause = min(1.5 * pause, LONGEST_PAUSE)

    @contextmanager
    def _without_waiting(self, patience: float) -> Iterator[None]:
        self.ensure_connection()
        self.connection.execute("PRAGMA busy_timeout = 0")
        try:
            yield
        finally:
            self.connection.execute(f"PRAGMA busy_timeout = {int(1000 * patience)}")


def _is_taken(error: OperationalError) -> bool:
    code = getattr(error.__cause__, "sqlite_errorcode", 0)
    return code & 0xFF == sqlite3.SQLITE_BUSY
