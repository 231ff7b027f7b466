"""Files that wait between a preview and its confirmation, kept in the database for a day.

There every web server reads them. They are written, read and deleted a part at a time: nobody else
waits for a large one, and memory does not grow with it.
"""

from __future__ import annotations

import tempfile
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import BinaryIO, NamedTuple
from uuid import UUID

from django.contrib.auth.models import User
from django.core.files.uploadedfile import UploadedFile
from django.db.models import Count, Sum
from django.db.models.functions import Now

from labeling.domain.errors import RuleError
from labeling.models import Project, Upload, UploadPart
from labeling.services.short_writes import short_write

KEPT = timedelta(days=1)
MOST_BYTES = 1024**3
"""Of one person: what they have sent first goes when they send more."""

PART_BYTES = 512 * 1024
DELETED_AT_ONCE = 8


class UploadGone(RuleError):
    """The file of a preview has been deleted."""

    code = "upload_gone"


def keep(file: UploadedFile, *, project: Project, by: User, purpose: str) -> Upload:
    """Store a file that was sent; its key opens it for the same person, project and purpose."""
    sweep()
    _make_room(by, MOST_BYTES - (file.size or 0))
    name = Path(file.name or "file").name
    upload = Upload.objects.create(project=project, by=by, purpose=purpose, name=name)
    for number, part in enumerate(_parts(file)):
        content = zlib.compress(part, level=1)
        with short_write():
            UploadPart.objects.create(upload=upload, number=number, content=content)
        upload.size += len(part)
    upload.is_complete = True
    upload.save(update_fields=["size", "is_complete"])
    return upload


def find(key: str, *, project: Project, by: User, purpose: str) -> Upload:
    try:
        known = UUID(key)
    except ValueError:
        raise UploadGone("upload.gone") from None
    whose = Upload.objects.filter(project=project, by=by, purpose=purpose, is_complete=True)
    upload = whose.filter(key=known, at__gte=Now() - KEPT).first()
    if upload is None:
        raise UploadGone("upload.gone")
    return upload


@contextmanager
def opened(upload: Upload) -> Iterator[BinaryIO]:
    """Its content as a file of this machine, which goes when it is closed."""
    with tempfile.TemporaryFile() as file:
        number = 0
        while part := UploadPart.objects.filter(upload=upload, number=number).first():
            file.write(zlib.decompress(part.content))
            number += 1
        if file.tell() != upload.size:
            raise UploadGone("upload.gone")  # deleted meanwhile
        file.seek(0)
        yield file


def forget(upload: Upload) -> None:
    parts = UploadPart.objects.filter(upload=upload)
    while first := list(parts.order_by("number").values_list("pk", flat=True)[:DELETED_AT_ONCE]):
        with short_write():
            UploadPart.objects.filter(pk__in=first).delete()
    Upload.objects.filter(pk=upload.pk).delete()


def sweep() -> None:
    """Forget what nobody has confirmed in a day; so does what its process did not finish."""
    for upload in Upload.objects.filter(at__lt=Now() - KEPT):
        forget(upload)


class Forgotten(NamedTuple):
    number: int
    megabytes: int


def forgotten() -> Forgotten:
    """What should be gone: an hour more than a sweep may leave it."""
    late = Upload.objects.filter(at__lt=Now() - KEPT - timedelta(hours=1))
    total = late.aggregate(n=Count("pk"), size=Sum("size", default=0))
    return Forgotten(total["n"], total["size"] // 1024**2)


def _parts(file: UploadedFile) -> Iterator[bytes]:
    """Of one size; a small file is in memory and comes as a whole."""
    for chunk in file.chunks(PART_BYTES):
        for start in range(0, len(chunk), PART_BYTES):
            yield chunk[start : start + PART_BYTES]


def _make_room(by: User, most: int) -> None:
    kept = 0
    mine: Iterable[Upload] = Upload.objects.filter(by=by)
    for upload in mine:  # the newest first
        kept += upload.size
        if kept > most:
            forget(upload)
