"""One event loop in a thread of its own, so that a request can be broken off at its time limit.

A blocking request cannot: a server that sends a byte now and then holds it for ever. A loop of its
own also serves callers that stand inside another loop.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Coroutine
from functools import cache
from os import getpid
from typing import Any, TypeVar

GRACE_SECONDS = 5.0  # for breaking a request off

T = TypeVar("T")


def run(work: Coroutine[Any, Any, T], *, seconds: float) -> T:
    """Its result, or ``TimeoutError`` after so many seconds of wall-clock time."""
    limited = asyncio.wait_for(work, seconds)
    future = asyncio.run_coroutine_threadsafe(limited, _loop_of(getpid()))
    try:
        return future.result(seconds + GRACE_SECONDS)
    except BaseException:  # also when a person or the system stops the caller
        future.cancel()
        raise


@cache
def _loop_of(process: int) -> asyncio.AbstractEventLoop:
    """A forked process has no thread of its parent's, so it gets a loop of its own."""
    loop = asyncio.new_event_loop()
    threading.Thread(target=loop.run_forever, name="chat", daemon=True).start()
    return loop
