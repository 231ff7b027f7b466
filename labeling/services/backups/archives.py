"""The file of a backup: a zip that nobody else reads, with a manifest that says what is in it.

It is written next to its place and renamed when it has been read back: a file with the name of a
backup is a whole one.
"""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any, Self, TypedDict

from labeling.domain.errors import RuleError

FORMAT = 1
MANIFEST = "manifest.json"
PIECE = 1024 * 1024
DRAFT = ".assay-backup-"
"""How names of files begin that are not a backup yet."""


class BackupRefused(RuleError):
    """It cannot be made, or nothing can be restored from it."""

    code = "backup_refused"


class Member(TypedDict):
    name: str
    bytes: int
    sha256: str


class Manifest(TypedDict):
    format: int
    assay: str
    made_at: str
    vendor: str
    server: str
    migrations: list[str]
    counts: dict[str, int]
    """Rows of each table."""
    gold_key: str
    """Fingerprint of the key that signs releases."""
    members: list[Member]


class Draft:
    """An archive in the making; ``publish`` gives it its name."""

    def __init__(self, path: Path) -> None:
        if path.exists():
            raise BackupRefused("backup.exists", path=str(path))
        self.path = path
        self.members: list[Member] = []

    def __enter__(self) -> Self:
        try:
            descriptor, name = tempfile.mkstemp(prefix=DRAFT, dir=self.path.parent)
        except OSError as error:
            reason = error.strerror or str(error)
            raise BackupRefused("backup.unwritable", path=str(self.path), reason=reason) from None
        self._draft = Path(name)
        self._file = os.fdopen(descriptor, "w+b")
        self._zip = zipfile.ZipFile(self._file, "w", allowZip64=True)
        return self

    def __exit__(self, *_: object) -> None:
        for file in (self._zip, self._file):
            with suppress(OSError):  # of a full disk; what was written goes anyway
                file.close()
        self._draft.unlink(missing_ok=True)

    def add(self, name: str, content: IO[bytes], *, compressed: bool = False) -> None:
        """``compressed``: it is so already."""
        info = zipfile.ZipInfo(name)
        info.external_attr = 0o600 << 16
        info.compress_type = zipfile.ZIP_STORED if compressed else zipfile.ZIP_DEFLATED
        info._compresslevel = 1  # type: ignore[attr-defined]
        digest, size = hashlib.sha256(), 0
        with self._zip.open(info, "w", force_zip64=True) as member:
            while piece := content.read(PIECE):
                digest.update(piece)
                size += len(piece)
                member.write(piece)
        self.members.append(Member(name=name, bytes=size, sha256=digest.hexdigest()))

    def publish(self, manifest: Manifest) -> None:
        text = json.dumps({**manifest, "members": self.members}, indent=1)
        self._zip.writestr(MANIFEST, text)
        self._zip.close()
        self._file.flush()
        os.fsync(self._file.fileno())
        with Archive(self._draft) as archive:
            archive.verify()
        self._draft.replace(self.path)
        folder = os.open(self.path.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


class Archive:
    def __init__(self, path: Path) -> None:
        try:
            self._zip = zipfile.ZipFile(path)
            with self._zip.open(MANIFEST) as file:
                self.manifest = _manifest(json.load(file))
        except (OSError, zipfile.BadZipFile, KeyError, TypeError, ValueError) as error:
            reason = getattr(error, "strerror", None) or str(error)
            raise BackupRefused("backup.unreadable", path=str(path), reason=reason) from None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._zip.close()

    def verify(self) -> None:
        """Each member is there, as long as the manifest says, and with that hash."""
        for member in self.manifest["members"]:
            with self.opened(member["name"]) as file:
                while file.read(PIECE):
                    pass

    @contextmanager
    def opened(self, name: str) -> Iterator[IO[bytes]]:
        """A member, which is compared with the manifest when it has been read to its end."""
        members = {member["name"]: member for member in self.manifest["members"]}
        try:
            with self._zip.open(name) as file:
                checked = _Checked(file, members[name])
                yield checked  # type: ignore[misc]
        except (KeyError, EOFError, zipfile.BadZipFile, zlib.error):
            raise BackupRefused("backup.damaged", member=name) from None

    def read(self, name: str) -> bytes:
        with self.opened(name) as file:
            return file.read()


class _Checked:
    def __init__(self, file: IO[bytes], member: Member) -> None:
        self._file, self._member = file, member
        self._digest, self._size = hashlib.sha256(), 0

    def read(self, size: int = -1) -> bytes:
        piece = self._file.read(size)
        self._digest.update(piece)
        self._size += len(piece)
        if size < 0 or not piece:
            same = self._size == self._member["bytes"]
            if not same or self._digest.hexdigest() != self._member["sha256"]:
                raise BackupRefused("backup.damaged", member=self._member["name"])
        return piece


def _manifest(read: Any) -> Manifest:
    if read["format"] != FORMAT:
        raise BackupRefused("backup.format", format=str(read["format"]))
    manifest = Manifest(**{name: read[name] for name in Manifest.__annotations__})  # type: ignore[typeddict-item]
    wanted = {"counts": dict, "members": list, "migrations": list, "vendor": str}
    for name, kind in wanted.items():
        if not isinstance(read[name], kind):
            raise ValueError(name)
    return manifest
