"""A message queue in PostgreSQL, for workers on many machines without a broker to install.

A message is a row that one worker deletes, and a notice wakes those who wait; a wake-up that waits
already is not written a second time. The table survives no crash of the server, and need not: what
is to be done is in other rows, and a sweep sends what was lost.
"""

from __future__ import annotations

from queue import Empty
from typing import Any
from uuid import uuid4

import psycopg
from django.db import DatabaseError, connection, transaction
from kombu.transport import virtual
from kombu.utils.json import dumps, loads

from config.broker import Patient, digest_of

SECONDS_BETWEEN_LOOKS = 5.0
"""A notice may be lost with the connection that waits for it."""

MAKE = """
SELECT pg_advisory_xact_lock(4711001);
CREATE UNLOGGED TABLE IF NOT EXISTS assay_messages (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    queue text NOT NULL, digest text NOT NULL, message text NOT NULL, UNIQUE (queue, digest))
"""
PUT = """
WITH stored AS (
    INSERT INTO assay_messages (queue, digest, message) VALUES (%s, %s, %s)
    ON CONFLICT DO NOTHING RETURNING id)
SELECT pg_notify('assay_messages', '') FROM stored
"""
TAKE = """
DELETE FROM assay_messages WHERE id = (
    SELECT id FROM assay_messages WHERE queue = %s ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED)
RETURNING message
"""


class Channel(virtual.Channel):
    """Uses Django's connection of the thread."""

    def _new_queue(self, queue: str, **kwargs: Any) -> None:
        if not _rows("SELECT to_regclass('assay_messages')")[0][0]:
            _rows(MAKE)

    def _put(self, queue: str, message: Any, **kwargs: Any) -> None:
        """What is sent in a transaction is written when that is stored, and holds nobody up."""
        row = [queue, digest_of(message) or uuid4().hex, dumps(message)]
        transaction.on_commit(lambda: _rows(PUT, row))

    def _get(self, queue: str, timeout: float | None = None) -> Any:
        taken = _rows(TAKE, [queue])
        if not taken:
            raise Empty
        return loads(taken[0][0])

    def _size(self, queue: str) -> int:
        return int(_rows("SELECT count(*) FROM assay_messages WHERE queue = %s", [queue])[0][0])

    def _purge(self, queue: str) -> int:
        return len(_rows("DELETE FROM assay_messages WHERE queue = %s RETURNING id", [queue]))


class Transport(Patient):
    Channel = Channel
    polling_interval = SECONDS_BETWEEN_LOOKS
    connection_errors = (  # type: ignore[assignment]  # kombu says: of one error
        *virtual.Transport.connection_errors,
        DatabaseError,
        psycopg.Error,
    )
    driver_type = driver_name = "postgresql"

    def __init__(self, client: Any, **kwargs: Any) -> None:
        super().__init__(client, **kwargs)
        self._ear: psycopg.Connection[Any] | None = None

    def _pause(self, seconds: float) -> None:
        """Listening begins before a last look, so that no notice falls in between."""
        if self._ear is None:
            self._ear = _listening()
            return
        for _ in self._ear.notifies(timeout=seconds, stop_after=1):
            return

    def close_connection(self, connection: Any) -> None:
        super().close_connection(connection)
        if self._ear is not None:
            self._ear.close()
            self._ear = None


def _listening() -> psycopg.Connection[Any]:
    parameters = connection.get_connection_params()
    known = {name: value for name, value in parameters.items() if name not in OF_DJANGO}
    ear = psycopg.connect(**known, autocommit=True)
    ear.execute("LISTEN assay_messages")
    return ear


OF_DJANGO = {"context", "cursor_factory", "prepare_threshold"}


def _rows(statement: str, values: list[str] | None = None) -> list[tuple[Any, ...]]:
    """After an error a worker begins with a new connection; a transaction has its own end."""
    try:
        with connection.cursor() as cursor:
            cursor.execute(statement, values)
            return cursor.fetchall() if cursor.description else []
    except DatabaseError:
        if not connection.in_atomic_block:
            connection.close()
        raise
