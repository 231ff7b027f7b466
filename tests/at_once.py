"""Two at the same moment, one of whom rests where the other could come between."""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from threading import Event as Signal
from typing import Any

import pytest
from django.db import connection

REST = 0.3
Act = Callable[[], Any]


class Rest:
    """Whoever calls the function first rests after it."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, owner: Any, name: str) -> None:
        self.reached = Signal()
        self._real = getattr(owner, name)
        monkeypatch.setattr(owner, name, self)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        found = self._real(*args, **kwargs)
        if not self.reached.is_set():
            self.reached.set()
            time.sleep(REST)
        return found


def both(first: Act, rest: Rest, second: Act) -> tuple[Future[Any], Future[Any]]:
    """The second begins while the first one rests."""
    with ThreadPoolExecutor(2) as threads:
        one = threads.submit(closing, first)
        rest.reached.wait(10)
        return one, threads.submit(closing, second)


def closing(act: Act) -> Any:
    try:
        return act()
    finally:
        connection.close()
