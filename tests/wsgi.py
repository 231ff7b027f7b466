"""The whole server as a function of this process: programs ask it without a socket."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from django.core.handlers.wsgi import WSGIHandler
from django.core.signals import request_finished, request_started
from django.db import close_old_connections


@contextmanager
def server() -> Iterator[WSGIHandler]:
    """It answers from the connection of the test, whose transaction no request ends."""
    signals = (request_started, request_finished)
    for signal in signals:
        signal.disconnect(close_old_connections)
    try:
        yield WSGIHandler()
    finally:
        for signal in signals:
            signal.connect(close_old_connections)
