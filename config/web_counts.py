"""How many requests were answered and how long they took, summed over all web processes.

Each process counts in a separate file, which it holds by a lock as long as it lives; a reader
sums them all, and adds the files of processes that have ended to one of the past. So a figure
never falls, and counting costs a request a few microseconds.
"""

from __future__ import annotations

import fcntl
import logging
import mmap
import os
import socket
import struct
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Lock
from time import perf_counter
from typing import NamedTuple

from django.conf import settings
from django.http import HttpRequest, HttpResponse

from config import private_files

logger = logging.getLogger(__name__)

AREAS = ("save", "api", "page", "fragment", "admin", "static", "operating", "unknown")
"""Kinds of requests. ``save``: answers of annotators; ``fragment``: part of an open page."""

STATUSES = (
    *(200, 201, 202, 204, 206, 286, 301, 302, 304),
    *(400, 401, 403, 404, 405, 409, 410, 412, 413, 415, 422, 428, 429),
    *(500, 501, 502, 503, 504, 507),
    0,
)
"""0 in place of any other."""

BOUNDS = (0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)  # seconds

WIDTH = len(STATUSES) + len(BOUNDS) + 1 + 1
"""Numbers of an area: by status, by duration (the last: longer), and the seconds in all."""

SIZE = 8 * WIDTH * len(AREAS)
SAVES = frozenset(
    {
        "api-annotation",
        "api-annotation-submit",
        "api-annotation-skip",
        "api-annotation-reopen",
        "api-annotation-restore",
    }
)
OPERATING = frozenset({"healthz", "readyz", "metrics"})


class Area(NamedTuple):
    name: str
    by_status: dict[int, int]
    by_duration: list[int]
    """Not summed up: each request is in one of them."""
    seconds: float


class Counts:
    def __init__(self) -> None:
        self._lock = Lock()
        self._process = 0
        self._memory: mmap.mmap | None = None

    def add(self, area: str, status: int, seconds: float) -> None:
        first = AREAS.index(area) * WIDTH
        at = STATUSES.index(status) if status in STATUSES else len(STATUSES) - 1
        slower = sum(seconds > bound for bound in BOUNDS)
        with self._lock:
            try:
                memory = self._own()
            except OSError as error:  # of a full disk: the answer is what counts
                logger.warning("A request is not counted: %s", error)
                return
            self._raise(memory, first + at, 1)
            self._raise(memory, first + len(STATUSES) + slower, 1)
            self._raise(memory, first + WIDTH - 1, seconds)

    @staticmethod
    def _raise(memory: mmap.mmap, place: int, by: float) -> None:
        (before,) = struct.unpack_from("d", memory, 8 * place)
        struct.pack_into("d", memory, 8 * place, before + by)

    def _own(self) -> mmap.mmap:
        """A fork begins a separate file."""
        if self._memory is None or self._process != os.getpid():
            self._memory = _begin(_folder() / f"web-{os.getpid()}-{os.urandom(4).hex()}")
            self._process = os.getpid()
        return self._memory


def _begin(path: Path) -> mmap.mmap:
    """Nobody sees the file before it is held."""
    draft = path.with_name(f"draft-{path.name}")
    descriptor = os.open(draft, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        os.posix_fallocate(descriptor, 0, SIZE)  # writing to a hole of a full disk ends a process
    except OSError:
        os.close(descriptor)
        draft.unlink()
        raise
    fcntl.flock(descriptor, fcntl.LOCK_EX)  # until the process ends: nothing closes it
    draft.replace(path)
    return mmap.mmap(descriptor, SIZE)


def read() -> list[Area]:
    """Of all web processes of this machine, since its counting began."""
    with _alone() as folder:
        numbers = _numbers(folder / PAST)
        for path in folder.glob("web-*"):
            numbers = _sum(numbers, _numbers(path))
            _move_if_ended(path, folder / PAST)
    return [_area(name, numbers) for name in AREAS]


PAST = "past"


def _move_if_ended(path: Path, past: Path) -> None:
    with path.open("rb") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return
        summed = _sum(_numbers(past), _numbers(path))  # it may have counted until it ended
        draft = past.with_name(f"{PAST}.draft")
        draft.write_bytes(struct.pack(f"{len(summed)}d", *summed))
        draft.replace(past)
        path.unlink()


def _sum(some: list[float], others: list[float]) -> list[float]:
    return [a + b for a, b in zip(some, others, strict=True)]


def _numbers(path: Path) -> list[float]:
    """Zeros of a file that another version has written: its areas and bounds may be others."""
    content = path.read_bytes() if path.exists() else b""
    count = WIDTH * len(AREAS)
    return list(struct.unpack(f"{count}d", content)) if len(content) == SIZE else [0.0] * count


def _area(name: str, numbers: list[float]) -> Area:
    first = AREAS.index(name) * WIDTH
    own = numbers[first : first + WIDTH]
    counted = [int(number) for number in own[:-1]]
    by_status = {
        status: n for status, n in zip(STATUSES, counted[: len(STATUSES)], strict=True) if n
    }
    return Area(name, by_status, counted[len(STATUSES) :], own[-1])


@contextmanager
def _alone() -> Iterator[Path]:
    folder = _folder()
    with (folder / "lock").open("a") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield folder


def _folder() -> Path:
    """Machines that share a data folder count each for itself."""
    folder = settings.DATA_DIR / "web_counts" / socket.gethostname()
    private_files.make_folder(folder)
    return folder


counts = Counts()


def counted(get_response: Callable[[HttpRequest], HttpResponse]) -> object:
    """Middleware. Of an answer that is sent bit by bit, until it begins."""

    def answered(request: HttpRequest) -> HttpResponse:
        begun = perf_counter()
        response = get_response(request)
        counts.add(area_of(request), response.status_code, perf_counter() - begun)
        return response

    return answered


def area_of(request: HttpRequest) -> str:
    """Of a request that was answered."""
    match = request.resolver_match
    if match is None:
        is_static = request.path_info.startswith(f"/{settings.STATIC_URL.lstrip('/')}")
        return "static" if is_static else "unknown"
    name = match.url_name or ""
    if name in OPERATING:
        return "operating"
    if match.app_name == "admin":
        return "admin"
    if name in SAVES and request.method != "GET":
        return "save"
    if name.startswith("api-"):
        return "api"
    return "fragment" if request.headers.get("HX-Request") else "page"
