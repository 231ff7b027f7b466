"""What is loaded or built for the first text, and kept for the following ones.

A worker's children stay between cases, and so do the networks that they have loaded.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from pathlib import Path
from threading import Lock
from typing import Generic, TypeVar

from labeling.domain.encoding.network import Changes, Network

AT_HAND = 2
"""The plain one and one that was changed; each takes 42 MB."""

Key = TypeVar("Key")
Built = TypeVar("Built")


class LastUsed(Generic[Key, Built]):
    """Keeps what is expensive to build, for the keys used last."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._kept: OrderedDict[Key, Built] = OrderedDict()
        self._lock = Lock()

    def get(self, key: Key, build: Callable[[], Built]) -> Built:
        with self._lock:
            if key not in self._kept:
                self._kept[key] = build()
            self._kept.move_to_end(key)
            while len(self._kept) > self._size:
                self._kept.popitem(last=False)
            return self._kept[key]


class Networks:
    def __init__(self) -> None:
        self._kept: LastUsed[tuple[Path, str, bool], Network] = LastUsed(AT_HAND)

    def get(
        self, folder: Path, key: str = "", changes: Changes | None = None, *, short: bool = False
    ) -> Network:
        """The network in ``folder``; ``key`` names ``changes`` of its matrices."""
        return self._kept.get((folder, key, short), lambda: Network(folder, changes, short=short))


networks = Networks()
