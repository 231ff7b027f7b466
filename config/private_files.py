"""The data folder holds keys, the database and uploads: nobody else on the machine reads them."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

FOLDER, FILE = 0o700, 0o600
FOLDERS = ("uploads", "broker", "logs", "encoder", "cache")
"""Scripts and style sheets may be served by a proxy, and hold nothing private."""


def make_folder(folder: Path) -> None:
    folder.mkdir(mode=FOLDER, parents=True, exist_ok=True)


def close(data: Path) -> None:
    """Take the rights of others away from what is there already."""
    for path in open_to_others(data):
        with suppress(OSError):  # gone meanwhile, or somebody else's: preflight names it
            path.chmod(stat.S_IMODE(path.stat().st_mode) & ~0o077)


def open_to_others(data: Path) -> list[Path]:
    return [path for path in _private(data) if _mode(path) & 0o077]


def _private(data: Path) -> Iterator[Path]:
    """Files next to each other, and folders; what is in a closed folder is closed."""
    with os.scandir(data) as entries:
        for entry in entries:
            is_folder = entry.is_dir(follow_symlinks=False) and entry.name in FOLDERS
            if is_folder or entry.is_file(follow_symlinks=False):
                yield Path(entry.path)


def _mode(path: Path) -> int:
    with suppress(FileNotFoundError):
        return stat.S_IMODE(path.lstat().st_mode)
    return 0
