"""Waiting for what a worker does."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

from assay_client.errors import StillAtWork

Work = TypeVar("Work")
FIRST, LONGEST = 0.5, 10.0


def wait_until(
    look: Callable[[], Work],
    is_over: Callable[[Work], bool],
    *,
    what: str,
    timeout: float | None = None,
    progress: Callable[[Work], object] | None = None,
    sleep: Callable[[float], None] = time.sleep,
    clock: Callable[[], float] = time.monotonic,
) -> Work:
    """Look again and again, more seldom the longer it takes, until it is over.

    ``progress`` is called with each look. After ``timeout`` seconds (None: never) it raises
    :class:`StillAtWork`; the work goes on, and can be waited for again.
    """
    end = None if timeout is None else clock() + timeout
    pause = FIRST
    while True:
        last = look()
        if progress is not None:
            progress(last)
        if is_over(last):
            return last
        if end is not None and clock() + pause > end:
            raise StillAtWork(f"{what} is still at work after {timeout:g} s.", last)
        sleep(pause)
        pause = min(pause * 1.5, LONGEST)
