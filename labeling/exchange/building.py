"""Files that appear when all of them are written: an export that is cut off leaves none of them."""

from __future__ import annotations

import fcntl
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from labeling.domain.errors import RuleError
from labeling.domain.msgids import msgid


class FolderInUse(RuleError, code="folder_in_use"):
    """The output folder holds something else, or somebody is writing it."""


def partial_of(path: Path) -> Path:
    """Where it is built: next to it, so that it need only be renamed."""
    return path.parent / f".{path.name}.partial"


def build(folder: Path, write: Callable[[Path], list[Path]], *, again: bool = False) -> list[Path]:
    """What ``write`` puts into a folder, and the files by their final names.

    ``again``: files that are in the folder are replaced. Otherwise it must be empty or missing.
    """
    folder = folder.absolute()
    if not again and folder.exists() and any(folder.iterdir()):
        raise FolderInUse(
            msgid("{folder} is not empty: choose an empty folder."), folder=str(folder)
        )
    folder.parent.mkdir(parents=True, exist_ok=True)
    with _alone(folder) as draft:
        try:
            written = [path.relative_to(draft) for path in write(draft)]
            _publish(draft, folder)
        finally:
            shutil.rmtree(draft, ignore_errors=True)
    return [folder / path for path in written]


@contextmanager
def _alone(folder: Path) -> Iterator[Path]:
    """An empty folder of nobody else; what a killed process left in it is thrown away."""
    draft = partial_of(folder)
    draft.mkdir(exist_ok=True)
    handle = os.open(draft, os.O_RDONLY)
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise FolderInUse("export.under_way", folder=str(folder)) from None
        for left in draft.iterdir():
            shutil.rmtree(left) if left.is_dir() and not left.is_symlink() else left.unlink()
        yield draft
    finally:
        os.close(handle)


def _publish(draft: Path, folder: Path) -> None:
    """By one rename; file by file where the folder is there already and somebody may be in it."""
    if not folder.exists():
        draft.rename(folder)
        return
    for path in sorted(draft.rglob("*"), key=lambda path: path.name == LAST):
        if not path.is_dir():
            place = folder / path.relative_to(draft)
            place.parent.mkdir(parents=True, exist_ok=True)
            path.replace(place)


LAST = "manifest.json"
"""It names all the others, so it comes last."""


@contextmanager
def whole(path: Path) -> Iterator[IO[str]]:
    """A text file that is there when all of it is written, or as it was before."""
    if path.is_symlink() or (path.exists() and not path.is_file()):  # /dev/stdout, a pipe
        with path.open("w", encoding="utf-8", newline="") as file:
            yield file
        return
    draft = partial_of(path)
    try:
        with draft.open("w", encoding="utf-8", newline="") as file:
            if path.exists():
                shutil.copymode(path, draft)
            yield file
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)
