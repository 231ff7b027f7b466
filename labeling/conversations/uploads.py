"""Files that wait between a preview and its confirmation, in the data folder for a day.

Each is a separate folder, whose name says whose it is; it appears when all of it is written.
"""

from __future__ import annotations

import shutil
import tempfile
import time
from contextlib import suppress
from math import inf
from pathlib import Path
from typing import BinaryIO, NamedTuple
from uuid import UUID, uuid4

from django.conf import settings
from django.contrib.auth.models import User
from django.core.files.uploadedfile import UploadedFile

from labeling.domain.errors import RuleError
from labeling.models import Project

KEPT = 24 * 3600  # seconds
MOST_BYTES = 1024**3
"""Of one person: what they have sent first goes when they send more."""

NAME, CONTENT = "name", "content"


class UploadGone(RuleError, code="upload_gone"):
    """The file of a preview has been deleted."""


class Upload(NamedTuple):
    key: str
    name: str
    size: int
    folder: Path

    def open(self) -> BinaryIO:
        try:
            return (self.folder / CONTENT).open("rb")
        except FileNotFoundError:
            raise UploadGone("upload.gone") from None


def keep(file: UploadedFile, *, project: Project, by: User, purpose: str) -> Upload:
    """Store a file that was sent; its key opens it for the same person, project and purpose."""
    sweep()
    kept = file.size or 0
    for folder in sorted(_folder().glob(f"{by.pk}_*"), key=_age):
        with suppress(FileNotFoundError):
            kept += _opened(folder).size
        if kept > MOST_BYTES:
            _remove(folder)
    draft = Path(tempfile.mkdtemp(prefix="partial-", dir=_folder()))
    try:
        (draft / NAME).write_text(Path(file.name or "file").name)
        with (draft / CONTENT).open("wb") as content:
            for chunk in file.chunks():
                content.write(chunk)
        return _opened(draft.rename(_place(uuid4(), project, by, purpose)))
    except BaseException:
        _remove(draft)
        raise


def find(key: str, *, project: Project, by: User, purpose: str) -> Upload:
    try:
        folder = _place(UUID(key), project, by, purpose)
        if _age(folder) < KEPT:
            return _opened(folder)
    except (ValueError, FileNotFoundError):
        pass
    raise UploadGone("upload.gone")


def forget(upload: Upload) -> None:
    _remove(upload.folder)


def sweep() -> None:
    """Forget what nobody has confirmed in a day; so does what its process did not finish."""
    for folder in _folder().iterdir():
        if _age(folder) >= KEPT:
            _remove(folder)


def _folder() -> Path:
    folder: Path = settings.DATA_DIR / "uploads"
    folder.mkdir(mode=0o700, exist_ok=True)
    return folder


def _place(key: UUID, project: Project, by: User, purpose: str) -> Path:
    return _folder() / f"{by.pk}_{project.pk}_{purpose}_{key}"


def _opened(folder: Path) -> Upload:
    key = folder.name.rpartition("_")[2]
    return Upload(key, (folder / NAME).read_text(), (folder / CONTENT).stat().st_size, folder)


def _age(folder: Path) -> float:
    """In seconds; of one that has just been removed, endless."""
    try:
        return time.time() - folder.stat().st_mtime
    except FileNotFoundError:
        return inf


def _remove(folder: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)
