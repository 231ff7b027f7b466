"""Folders as one file to download."""

from __future__ import annotations

import io
import shutil
import tempfile
import zipfile
from collections.abc import Callable, Iterable
from pathlib import Path

from django.http import FileResponse


def zipped(write: Callable[[Path], Iterable[Path]], name: str) -> FileResponse:
    """What ``write`` puts into an empty folder; the same files give the same bytes.

    Django closes and so removes the temporary file when it has been sent.
    """
    packed: io.IOBase = tempfile.TemporaryFile()  # noqa: SIM115
    try:
        with tempfile.TemporaryDirectory() as parent, zipfile.ZipFile(packed, "w") as archive:
            folder = Path(parent) / "files"
            for path in sorted(write(folder)):
                _add(archive, path, str(path.relative_to(folder)))
    except BaseException:
        packed.close()
        raise
    packed.seek(0)
    return FileResponse(packed, as_attachment=True, filename=name)


def _add(archive: zipfile.ZipFile, path: Path, name: str) -> None:
    """Without the time at which it was written."""
    described = zipfile.ZipInfo(name)
    described.compress_type = zipfile.ZIP_DEFLATED
    described.external_attr = 0o644 << 16
    with path.open("rb") as file, archive.open(described, "w", force_zip64=True) as target:
        shutil.copyfileobj(file, target)
