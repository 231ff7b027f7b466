"""Long streams a few values at a time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import TypeVar

Value = TypeVar("Value")


def batches(values: Iterable[Value], size: int) -> Iterator[list[Value]]:
    """The values in lists of this size; the last one may be shorter.

    Examples
    --------
    >>> list(batches("abc", 2))
    [['a', 'b'], ['c']]
    """
    rest = iter(values)
    while batch := list(islice(rest, size)):
        yield batch
