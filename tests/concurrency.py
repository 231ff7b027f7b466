"""Two threads at the same moment, one of which pauses where the other could come between."""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from threading import Event as Signal
from typing import Any

import pytest
from django.db import connection

PAUSE_SECONDS = 0.3
Act = Callable[[], Any]


class Pause:
    """The first call of a function pauses after it."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, owner: Any, name: str) -> None:
        self.reached = Signal()
        self._real = getattr(owner, name)
        monkeypatch.setattr(owner, name, self)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        result = self._real(*args, **kwargs)
        if not self.reached.is_set():
            self.reached.set()
            time.sleep(PAUSE_SECONDS)
        return result


def both(first: Act, pause: Pause, second: Act) -> tuple[Future[Any], Future[Any]]:
    """The second begins while the first one pauses."""
    with ThreadPoolExecutor(2) as threads:
        earlier = threads.submit(closing, first)
        assert pause.reached.wait(60), "The first never came to its pause."
        return earlier, threads.submit(closing, second)


def closing(act: Act) -> Any:
    try:
        return act()
    finally:
        connection.close()
