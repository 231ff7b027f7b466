"""The networks of this process: loaded for the first text, and kept for the following ones.

A worker's children stay between cases, and so do the networks that they have loaded.
"""

from __future__ import annotations

from collections import OrderedDict
from pathlib import Path
from threading import Lock

from labeling.domain.encoding.network import Changes, Network

AT_HAND = 2
"""The plain one and one that was changed; each takes 42 MB."""


class Networks:
    """Those used last."""

    def __init__(self) -> None:
        self._kept: OrderedDict[tuple[Path, str, bool], Network] = OrderedDict()
        self._lock = Lock()

    def get(
        self, folder: Path, key: str = "", changes: Changes | None = None, *, short: bool = False
    ) -> Network:
        """The network in ``folder``; ``key`` names ``changes`` of its matrices."""
        name = (folder, key, short)
        with self._lock:
            if name not in self._kept:
                self._kept[name] = Network(folder, changes, short=short)
            self._kept.move_to_end(name)
            while len(self._kept) > AT_HAND:
                self._kept.popitem(last=False)
            return self._kept[name]


networks = Networks()
