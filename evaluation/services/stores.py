"""Where pipelines keep expensive results: files under the data directory.

Nothing here is the truth: every file can be computed again, so the folder may be deleted.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import mkstemp
from time import monotonic, sleep
from typing import IO

from django.conf import settings

LONGEST_WAIT_SECONDS = 1800.0
LOOK_SECONDS = 0.2


class FileStore:
    """Bytes by key, one file each; a file is complete or not there at all."""

    def __init__(self, folder: Path | None = None) -> None:
        self._folder = folder or settings.DATA_DIR / "cache"

    def get(self, key: str) -> bytes | None:
        try:
            return self._path(key).read_bytes()
        except FileNotFoundError:
            return None

    def put(self, key: str, value: bytes) -> None:
        """Written to a temporary file and then renamed: two workers may write one key at once."""
        path = self._path(key)
        path.parent.mkdir(parents=True, exist_ok=True)
        descriptor, draft = mkstemp(dir=path.parent)
        try:
            with open(descriptor, "wb") as file:
                file.write(value)
            os.replace(draft, path)
        except OSError:  # the disk is full, and stays so if drafts pile up on it
            os.unlink(draft)
            raise

    @contextmanager
    def alone(self, key: str, *, at_most: float = LONGEST_WAIT_SECONDS) -> Iterator[bool]:
        """Of all threads and processes one at a time, so that nothing is computed twice.

        The system frees what a killed process held. After ``at_most`` seconds of waiting a process
        continues at the same time (``False``), which only costs time.
        """
        path = self._path(key).with_suffix(".lock")
        path.parent.mkdir(parents=True, exist_ok=True)
        end = monotonic() + at_most
        with path.open("wb") as lock:  # frees it when it is closed
            while not (taken := _taken(lock)) and monotonic() < end:
                sleep(LOOK_SECONDS)
            yield taken

    def _path(self, key: str) -> Path:
        """By hash, because a key may hold any text."""
        digest = hashlib.sha256(key.encode()).hexdigest()
        return self._folder / digest[:2] / digest


def _taken(lock: IO[bytes]) -> bool:
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:  # a file system without locks: nobody waits there
        return True
    return True
