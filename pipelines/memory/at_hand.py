"""Keeps what is dear to build for the conversations that were asked about last."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import Generic, TypeVar

from pipelines.memory.identity import key_of
from pipelines.types import Message

SIZE = 8

Built = TypeVar("Built")


class AtHand(Generic[Built]):
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
