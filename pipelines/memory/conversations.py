"""The key of a conversation, and a cache of those that were asked about last."""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import Generic, TypeVar

from pipelines.types import Message

SIZE = 8

Built = TypeVar("Built")


def key_of(messages: Sequence[Message]) -> str:
    """Of speaker, time and words of all messages, so that equal conversations have equal keys."""
    lines = (f"{line.speaker}\0{line.time or ''}\0{line.content}\1" for line in messages)
    return hashlib.sha256("".join(lines).encode("utf-8", "replace")).hexdigest()


class LastUsed(Generic[Built]):
    """Keeps expensive builds of the conversations used last."""

    def __init__(self) -> None:
        self._kept: OrderedDict[str, Built] = OrderedDict()

    def get(self, messages: Sequence[Message], build: Callable[[], Built]) -> Built:
        key = key_of(messages)
        if key not in self._kept:
            self._kept[key] = build()
            if len(self._kept) > SIZE:
                self._kept.popitem(last=False)
        self._kept.move_to_end(key)
        return self._kept[key]
