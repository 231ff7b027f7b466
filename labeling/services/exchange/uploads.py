"""Files that wait between a preview and its confirmation, kept in the data folder for a day."""

from __future__ import annotations

import time
from collections.abc import Iterable
from pathlib import Path
from typing import BinaryIO, NamedTuple
from uuid import uuid4

from django.conf import settings
from django.contrib.auth.models import User
from django.core import signing
from django.core.files.uploadedfile import UploadedFile

from labeling.domain.errors import RuleError
from labeling.models import Project

KEPT_SECONDS = 24 * 60 * 60
MOST_BYTES = 2 * 1024**3
"""Of one person: what they have sent first goes when they send more."""


class UploadGone(RuleError):
    """The file of a preview has been deleted."""

    code = "upload_gone"


class Upload(NamedTuple):
    """A file that was sent; ``key`` opens it again, for the same person, project and purpose."""

    key: str
    name: str
    path: Path

    def open(self) -> BinaryIO:
        return self.path.open("rb")


def keep(file: UploadedFile, *, project: Project, by: User, purpose: str) -> Upload:
    folder = settings.DATA_DIR / "uploads"
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    _forget_old(folder.iterdir())
    _make_room(folder.glob(f"{by.pk}.*"), MOST_BYTES - (file.size or 0))
    path = folder / f"{by.pk}.{uuid4().hex}"
    with path.open("xb") as stored:
        for chunk in file.chunks():
            stored.write(chunk)
    name = Path(file.name or "file").name
    key = signing.dumps([path.name, name], salt=_salt(project, by, purpose))
    return Upload(key, name, path)


def find(key: str, *, project: Project, by: User, purpose: str) -> Upload:
    try:
        stored, name = signing.loads(key, salt=_salt(project, by, purpose), max_age=KEPT_SECONDS)
    except (signing.BadSignature, ValueError):
        raise _gone() from None
    path = settings.DATA_DIR / "uploads" / stored
    if not path.is_file():
        raise _gone()
    return Upload(key, name, path)


def forget(upload: Upload) -> None:
    upload.path.unlink(missing_ok=True)


def _salt(project: Project, by: User, purpose: str) -> str:
    return f"upload.{purpose}.{project.pk}.{by.pk}"


def _gone() -> UploadGone:
    return UploadGone("upload.gone")


def _make_room(paths: Iterable[Path], most: int) -> None:
    sizes = []
    for path in paths:
        try:
            sizes.append((path.stat().st_mtime, path, path.stat().st_size))
        except FileNotFoundError:
            continue
    kept = 0
    for _, path, size in sorted(sizes, reverse=True):
        kept += size
        if kept > most:
            path.unlink(missing_ok=True)


def _forget_old(paths: Iterable[Path]) -> None:
    oldest = time.time() - KEPT_SECONDS
    for path in paths:
        try:
            if path.stat().st_mtime < oldest:
                path.unlink()
        except FileNotFoundError:
            continue  # somebody else was quicker
