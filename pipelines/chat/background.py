"""One event loop in a separate thread, so that a request can be cancelled at its time limit.

A blocking request can't: a server that sends a byte now and then keeps it open forever. A separate
loop also serves callers that run inside another loop.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Coroutine
from functools import cache
from os import getpid
from typing import Any, TypeVar

GRACE_SECONDS = 5.0  # for cancelling a request

T = TypeVar("T")
_starting = threading.Lock()


def run(work: Coroutine[Any, Any, T], *, seconds: float) -> T:
    """Its result, or ``TimeoutError`` after ``seconds`` of wall-clock time."""
    limited = asyncio.wait_for(work, seconds)
    with _starting:  # or of two threads that ask first, each would start a loop
        loop = _loop_of(getpid())
    future = asyncio.run_coroutine_threadsafe(limited, loop)
    try:
        return future.result(seconds + GRACE_SECONDS)
    except BaseException:  # also when a person or the system stops the caller
        future.cancel()
        raise


@cache
def _loop_of(process: int) -> asyncio.AbstractEventLoop:
    """A forked process doesn't inherit threads, so it gets its own loop."""
    loop = asyncio.new_event_loop()
    threading.Thread(target=loop.run_forever, name="chat", daemon=True).start()
    return loop
