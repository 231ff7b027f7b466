"""Where the process of the encoder listens; light enough to be imported by every process."""

from __future__ import annotations

import fcntl
import hashlib
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Place:
    """Where the process listens, and after how many idle seconds it ends."""

    folder: Path
    idle_seconds: float = 120.0

    @property
    def name(self) -> str:
        """Another version of the code never answers for this one, nor another machine."""
        return f"{_version()}-{_machine()}.socket"

    @property
    def lock(self) -> Path:
        return self.folder / "lock"

    def prepare(self) -> None:
        """A folder that nobody but its owner may enter."""
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        state = self.folder.stat()
        if state.st_uid != os.getuid():
            raise PermissionError(f"{self.folder} belongs to another user.")
        if stat.S_IMODE(state.st_mode) != 0o700:
            self.folder.chmod(0o700)

    @contextmanager
    def address(self) -> Iterator[str]:
        """The path of the socket; those of sockets may have 107 bytes, those of folders more."""
        path = str(self.folder / self.name)
        if len(os.fsencode(path)) < 100:
            yield path
            return
        folder = os.open(self.folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            yield f"/proc/self/fd/{folder}/{self.name}"
        finally:
            os.close(folder)

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Of all that would start or end the process, one does."""
        with self.lock.open("a") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            yield


@dataclass(slots=True)
class _Use:
    place: Place | None = None


_use = _Use()


def use(place: Place | None) -> None:
    """From now on the process at ``place`` computes; ``None``: the one that asks."""
    _use.place = place


def current() -> Place | None:
    return _use.place


@cache
def _machine() -> str:
    """Containers may share the folder, but a process of another one has no number here."""
    numbers = ""
    with suppress(OSError):  # not every system says it
        numbers = os.readlink("/proc/self/ns/pid")
    return hashlib.sha256(f"{os.uname().nodename} {numbers}".encode()).hexdigest()[:8]


@cache
def _version() -> str:
    sources = sorted(Path(__file__).parent.glob("*.py"))
    return hashlib.sha256(b"".join(path.read_bytes() for path in sources)).hexdigest()[:8]
