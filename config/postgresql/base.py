"""Django's PostgreSQL, with statements that the server plans once and a look instead of a question.

Half of the server's work for a label was planning the same ten statements each time.
"""

from __future__ import annotations

import select
from typing import Any

from django.db.backends.postgresql import base
from django.db.backends.postgresql.psycopg_any import register_tzloader
from psycopg.pq import Format


class PreparedCursor(base.ServerBindingCursor):
    """Each statement is prepared the first time; parameters are sent apart from it."""

    def execute(self, query: Any, params: Any = None, **options: Any) -> Any:
        return super().execute(query, params, prepare=True, **options)  # type: ignore[misc]


class DatabaseWrapper(base.DatabaseWrapper):
    def prepared_cursor(self) -> Any:
        """For statements that are always the same."""
        if self.queries_logged:  # a log shows statements with their values
            return self.cursor()
        self.close_if_health_check_failed()
        self.ensure_connection()
        with self.wrap_database_errors:
            cursor = PreparedCursor(self.connection)  # type: ignore[call-arg]
            loader = self.connection.adapters.get_loader(base.TIMESTAMPTZ_OID, Format.TEXT)
            if self.timezone != loader.timezone:
                register_tzloader(self.timezone, cursor)
        return self._prepare_cursor(cursor)  # type: ignore[attr-defined]

    def is_usable(self) -> bool:
        """Whether the server has hung up; each request begins so, and asking it costs a statement.

        It says nothing by itself, so there is something to read only when it has ended or was lost.
        A server that is silent keeps a question waiting, too (``config/watch.py``).
        """
        if self.connection is None or self.connection.closed or self.connection.broken:
            return False
        poll = select.poll()
        poll.register(self.connection.fileno(), select.POLLIN)
        return not poll.poll(0) or super().is_usable()
