"""How many requests were answered and how long they took, summed over all web processes.

prometheus_client keeps what each process counts in files of its own, which a reader sums; those of
processes that have ended stay until a web server starts.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path
from time import perf_counter

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from prometheus_client import CollectorRegistry, Counter, Histogram
from prometheus_client.multiprocess import MultiProcessCollector

from config import private_files

logger = logging.getLogger(__name__)

AREAS = ("save", "api", "page", "fragment", "admin", "static", "operating", "unknown")
"""Kinds of requests. ``save``: answers of annotators; ``fragment``: part of an open page."""

BOUNDS = (0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)  # seconds
BYTES = 256 * 1024
"""Of a file: more than all figures take, so that none ever grows."""

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


@cache
def _figures() -> tuple[Counter, Histogram]:
    requests = Counter(
        "assay_http_requests_total",
        "Requests answered, by area and status.",
        ["area", "status"],
        registry=None,
    )
    seconds = Histogram(
        "assay_http_request_seconds",
        "Until an answer began, by area.",
        ["area"],
        buckets=BOUNDS,
        registry=None,
    )
    return requests, seconds


def add(area: str, status: int, seconds: float) -> None:
    try:
        _reserve()
        requests, took = _figures()
        requests.labels(area, str(status)).inc()
        took.labels(area).observe(seconds)
    except OSError as error:  # of a full disk: the answer is what counts
        logger.warning("A request is not counted: %s", error)


def _folder() -> Path:
    return Path(os.environ["PROMETHEUS_MULTIPROC_DIR"])


def _reserve() -> None:
    """Writing to a hole of a full disk would end the process, so the room is taken in advance."""
    if os.getpid() in _RESERVED:
        return
    for kind in ("counter", "histogram"):
        path = _folder() / f"{kind}_{os.getpid()}.db"
        if not path.exists():  # one of this number may have ended
            private_files.make_folder(path.parent)
            draft = path.with_suffix(".draft")
            with draft.open("wb") as file:
                os.posix_fallocate(file.fileno(), 0, BYTES)
            draft.replace(path)
    _RESERVED.add(os.getpid())


_RESERVED: set[int] = set()


def begin() -> None:
    """A web server starts: what ended before it is not counted on."""
    for path in _folder().glob("*.db"):
        pid = path.stem.rpartition("_")[2]
        if not Path(f"/proc/{pid}").exists():
            with suppress(FileNotFoundError):  # by another that starts
                path.unlink()


def registry() -> CollectorRegistry:
    """The sums of this machine."""
    private_files.make_folder(_folder())
    sums = CollectorRegistry()
    MultiProcessCollector(sums)
    return sums


def counted(get_response: Callable[[HttpRequest], HttpResponse]) -> object:
    """Middleware. Of an answer that is sent bit by bit, until it begins."""

    begin()

    def answered(request: HttpRequest) -> HttpResponse:
        begun = perf_counter()
        response = get_response(request)
        add(area_of(request), response.status_code, perf_counter() - begun)
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
