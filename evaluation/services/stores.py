"""Where pipelines keep what is dear to compute: files under the data directory.

Nothing here is the truth: every file can be computed again, so the folder may be deleted.
"""

from __future__ import annotations

import hashlib
import os
from pathlib import Path
from tempfile import NamedTemporaryFile

from django.conf import settings


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
        """Written beside its place and then renamed: two workers may write one key at once."""
        path = self._path(key)
        path.parent.mkdir(parents=True, exist_ok=True)
        with NamedTemporaryFile(dir=path.parent, delete=False) as draft:
            draft.write(value)
        os.replace(draft.name, path)

    def _path(self, key: str) -> Path:
        """By hash, because a key may hold any text."""
        digest = hashlib.sha256(key.encode()).hexdigest()
        return self._folder / digest[:2] / digest
