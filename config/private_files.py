"""The data folder holds keys, the database and uploads: nobody else on the machine reads them."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path

FOLDER, FILE = 0o700, 0o600
FOLDERS = ("uploads", "broker", "logs", "encoder", "cache")
"""Scripts and style sheets may be served by a proxy, and hold nothing private."""

KEYS = re.compile(r"(secret|gold)_key(\.\d+)?")
DATABASES = ("assay.sqlite3", "test.sqlite3")
OF_A_DATABASE = ("", "-wal", "-shm", "-journal")


def make_folder(folder: Path) -> None:
    folder.mkdir(mode=FOLDER, parents=True, exist_ok=True)


def close(data: Path, *databases: str) -> None:
    """Take the rights of others away from what is there already.

    Only from files of ours: the folder may be one that other programs use too. ``databases`` are
    the names of files of SQLite, besides the usual ones.
    """
    for path in open_to_others(data, *databases):
        with suppress(OSError):  # gone meanwhile, or somebody else's: a check names it
            path.chmod(stat.S_IMODE(path.stat().st_mode) & ~0o077)


def open_to_others(data: Path, *databases: str) -> list[Path]:
    return [path for path in _private(data, databases) if _mode(path) & 0o077]


def _private(data: Path, databases: Iterable[str]) -> Iterator[Path]:
    """Files next to each other, and folders; what is in a closed folder is closed."""
    ours = {name + end for name in (*DATABASES, *databases) for end in OF_A_DATABASE}
    with os.scandir(data) as entries:
        for entry in entries:
            is_folder = entry.is_dir(follow_symlinks=False) and entry.name in FOLDERS
            is_file = entry.name in ours or KEYS.fullmatch(entry.name)
            if is_folder or (is_file and entry.is_file(follow_symlinks=False)):
                yield Path(entry.path)


def _mode(path: Path) -> int:
    with suppress(FileNotFoundError):
        return stat.S_IMODE(path.lstat().st_mode)
    return 0
