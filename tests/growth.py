"""How time grows with a text, said so that what else the machine does cannot change the verdict."""

from __future__ import annotations

from collections.abc import Callable
from time import process_time

TRIES = 5
QUICK = 0.1  # seconds: below, a ratio says nothing


def assert_four_times_the_text_takes_no_eight_times_as_long(
    read: Callable[[int], object], size: int
) -> None:
    """``read`` is given how long its text is to be. Squared, it would take sixteen times as long.

    The quickest of several tries counts, since others are slowed down; nearly always one is enough.
    """
    before, took = float("inf"), float("inf")
    for _ in range(TRIES):
        took = min(took, seconds(read, 4 * size))
        if took < QUICK:
            return
        before = min(before, seconds(read, size))
        if took < QUICK + 8 * before:
            return
    raise AssertionError(f"{before:.3f} s, and {took:.3f} s for four times the text")


def seconds(read: Callable[[int], object], size: int) -> float:
    started = process_time()
    read(size)
    return process_time() - started
