"""Tasks that take long never have all threads of a worker: what takes a moment always has one.

What finds no thread is put aside, and sent again when one of them ends. It may be lost with the
worker, as any message: the sweep sends another.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from threading import Lock

from labeling.services.wakeups import wake


class Turns:
    """The long tasks of this process, and how many run at a time."""

    def __init__(self, at_most: int) -> None:
        self._lock = Lock()
        self.at_most, self._running = at_most, 0
        self._aside: dict[tuple[str, int], None] = {}

    def limit(self, threads: int) -> None:
        """To all threads of the worker but one."""
        self.at_most = max(1, threads - 1)

    @contextmanager
    def one(self, task: str, pk: int) -> Iterator[bool]:
        """False: it is put aside."""
        with self._lock:
            mine = self._running < self.at_most
            if mine:
                self._running += 1
            else:
                self._aside[task, pk] = None
        try:
            yield mine
        finally:
            if mine:
                self._end()

    def _end(self) -> None:
        with self._lock:
            self._running -= 1
            following = next(iter(self._aside), None)
            if following is not None:
                del self._aside[following]
        if following is not None:
            wake(*following)


turns = Turns(1)


def takes_long(work: Callable[[int], None]) -> Callable[[int], None]:
    """For the function of a task, which its message names by module and name."""

    @wraps(work)
    def in_turn(pk: int) -> None:
        with turns.one(f"{work.__module__}.{work.__name__}", pk) as mine:
            if mine:
                work(pk)

    return in_turn
