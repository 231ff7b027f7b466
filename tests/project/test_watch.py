"""Requests that wait for a PostgreSQL that hangs are ended; those that only take long are not."""

from __future__ import annotations

import socket
from types import SimpleNamespace
from typing import Any

import pytest

from config import watch


@pytest.fixture
def waiting(monkeypatch: pytest.MonkeyPatch) -> Any:
    """A watch with one old request, and the two ends of its connection."""
    ours, theirs = socket.socketpair()
    wrapper = SimpleNamespace(
        connection=SimpleNamespace(pgconn=SimpleNamespace(socket=ours.fileno()))
    )
    guard = watch.Watch()
    guard._running[1] = (watch.monotonic() - watch.PATIENCE - 1, wrapper)
    guard._running[2] = (watch.monotonic(), SimpleNamespace(connection=None))
    yield guard, ours
    ours.close()
    theirs.close()


def test_a_request_is_ended_when_the_server_does_not_answer(
    waiting: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    guard, ours = waiting
    monkeypatch.setattr(watch, "_answers", lambda: False)
    assert guard.look() == 1
    assert ours.recv(1) == b""


def test_a_request_that_only_takes_long_goes_on(
    waiting: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    guard, ours = waiting
    monkeypatch.setattr(watch, "_answers", lambda: True)
    assert guard.look() == 0
    ours.setblocking(False)
    with pytest.raises(BlockingIOError):
        ours.recv(1)
