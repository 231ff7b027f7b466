"""Ends requests that wait for a PostgreSQL that has stopped to answer without closing anything.

A driver waits for an answer without end. When a request takes long, the server is asked over a new
connection; if it does not answer there either, the connection of the request is cut, and the
request fails as it does when the server is gone. A statement that only takes long goes on.
"""

from __future__ import annotations

import logging
import os
import socket
from collections.abc import Callable
from threading import Lock, Thread, get_ident
from time import monotonic, sleep
from typing import Any

from django.db import connection, connections
from django.http import HttpRequest, HttpResponse

logger = logging.getLogger(__name__)

PATIENCE = 5.0  # seconds
SECONDS_TO_ANSWER = 3


class Watch:
    """The requests of this process that are at work, and a thread that looks at the old ones."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._running: dict[int, tuple[float, Any]] = {}
        self._process = 0

    def begin(self) -> None:
        with self._lock:
            self._running[get_ident()] = (monotonic(), connections["default"])
            if self._process != os.getpid():  # a fork takes no thread along
                self._process = os.getpid()
                Thread(target=self._look_on, name="database watch", daemon=True).start()

    def end(self) -> None:
        with self._lock:
            self._running.pop(get_ident(), None)

    def _look_on(self) -> None:
        while True:
            sleep(1)
            self.look()

    def look(self) -> int:
        """How many connections were cut."""
        with self._lock:
            started = [start for start, _ in self._running.values()]
        if not started or monotonic() - min(started) < PATIENCE or _answers():
            return 0
        with self._lock:
            old = [
                (thread, wrapper)
                for thread, (start, wrapper) in self._running.items()
                if monotonic() - start >= PATIENCE
            ]
            return sum(_cut(wrapper) for _thread, wrapper in old)


def _answers() -> bool:
    import psycopg

    known = connections["default"].get_connection_params()
    names = ("host", "port", "user", "password", "dbname")
    try:
        with psycopg.connect(
            **{name: known[name] for name in names if known.get(name)},
            connect_timeout=SECONDS_TO_ANSWER,
        ):
            return True
    except psycopg.Error:
        return False


def _cut(wrapper: Any) -> bool:
    """A reader of the connection finds it closed."""
    try:
        number = os.dup(wrapper.connection.pgconn.socket)
    except (AttributeError, OSError) as error:  # not connected, or just closed
        logger.debug("Nothing to cut: %s", error)
        return False
    with socket.socket(fileno=number) as ending:
        try:
            ending.shutdown(socket.SHUT_RDWR)
        except OSError as error:
            logger.debug("Closed already: %s", error)
            return False
    logger.error("The database does not answer: a request that waited for it was ended.")
    return True


def watched(get_response: Callable[[HttpRequest], HttpResponse]) -> object:
    """Middleware; SQLite has no server that could hang."""
    if connection.vendor != "postgresql":
        return get_response
    watch = Watch()

    def passed_on(request: HttpRequest) -> HttpResponse:
        watch.begin()
        try:
            return get_response(request)
        finally:
            watch.end()

    return passed_on
