"""The key of a conversation, and a cache of those that were asked about last."""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Generic, TypeVar

from pipelines import trained_on
from pipelines.types import Message

SIZE = 8

Built = TypeVar("Built")


def key_of(messages: Sequence[Message]) -> str:
    """Of speaker, time and words of all messages: equal keys, equal results.

    Whether weights have read a conversation is asked of its words alone (:func:`left_out`).
    """
    lines = (f"{line.speaker}\0{line.time or ''}\0{line.content}\1" for line in messages)
    return hashlib.sha256("".join(lines).encode("utf-8", "replace")).hexdigest()


def left_out(weights: Path, messages: Sequence[Message]) -> str:
    """The key of the weights that were fitted without this conversation; empty if it was not read.

    By its words: a copy with a blank more, with other names of speakers, or the first half is it.
    """
    return trained_on.left_out(weights, [message.content for message in messages])


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
