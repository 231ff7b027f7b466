"""How many requests may be in flight: more while all goes well, half as many after a refusal.

Additive increase, multiplicative decrease, as in TCP; a wait that the server asks for is kept.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Condition

from pipelines.llm import RateLimited

LONGEST_CLOSED_SECONDS = 60.0
"""Then a request may check whether the server still refuses, however long it asked to wait: that
may have been a mistake, or somebody may have bought more."""


class AdaptiveLimit:
    def __init__(self, most: int) -> None:
        self._most = float(most)
        self._limit = float(most)
        self._active = 0
        self._closed_at = 0.0
        self._closed_until = 0.0
        self._lowered_at = 0.0
        self._changed = Condition()

    @property
    def limit(self) -> int:
        return int(self._limit)

    @property
    def _opens(self) -> float:
        return min(self._closed_until, self._closed_at + LONGEST_CLOSED_SECONDS)

    @contextmanager
    def slot(self, *, patience: float) -> Iterator[None]:
        """A place among the requests in flight; ``RateLimited`` if none becomes free in time."""
        self._enter(patience)
        started = time.monotonic()
        try:
            yield
        except RateLimited as error:
            self._lower(started, error.retry_after or 0.0)
            raise
        else:
            self._raise_a_little(started)
        finally:
            self._leave()

    def _enter(self, patience: float) -> None:
        end = time.monotonic() + patience
        with self._changed:
            while (now := time.monotonic()) < self._opens or self._active >= self.limit:
                if now >= end or (now < self._opens and self._closed_until > end):
                    wait = max(self._closed_until - now, 0.0)
                    raise RateLimited(
                        "model.too_many_requests_now",
                        retry_after=round(wait, 1) or None,
                    )
                self._changed.wait(_sooner(end, self._opens, now))
            self._active += 1

    def _leave(self) -> None:
        with self._changed:
            self._active -= 1
            self._changed.notify_all()

    def _lower(self, started: float, retry_after: float) -> None:
        """Once for all requests that were in flight together: their refusals mean the same."""
        now = time.monotonic()
        with self._changed:
            self._closed_until = max(self._closed_until, now + retry_after)
            self._closed_at = now
            if started >= self._lowered_at:
                self._limit = max(1.0, self._limit / 2)
                self._lowered_at = now

    def _raise_a_little(self, started: float) -> None:
        with self._changed:
            if started > self._closed_at:  # a later request has been answered since
                self._closed_until = 0.0
            self._limit = min(self._most, self._limit + 1 / self._limit)


def _sooner(end: float, opens: float, now: float) -> float:
    return (min(end, opens) if opens > now else end) - now
