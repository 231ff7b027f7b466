"""Work in child processes: work that hangs is ended with its process, and the worker continues.

A worker's thread hands a whole job (a run, suggestions, a memory build) to a child process and
watches it. The child reports which leases it holds and for how long it may; the thread renews
them from outside, so that a child that never lets another thread run is watched as well, and
kills the child at the limit. Children are kept between jobs, with the models that they have loaded,
and end when there has been no job for a minute.
"""

from __future__ import annotations

import atexit
import ctypes
import logging
import multiprocessing.util  # imported first, so that its exit handler runs last
import os
import signal
import sys
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from math import inf
from multiprocessing import forkserver
from multiprocessing.connection import Connection
from threading import Lock
from time import monotonic
from typing import Any, Protocol

import django
from django.conf import settings
from django.db import DatabaseError, connections

logger = logging.getLogger(__name__)

Job = Callable[..., Any]
Progress = Callable[[], None]

PRELOADED = ["evaluation.preload"]
"""Imported by the process that children are forked from, so that they start at once."""

PREPARE: list[Callable[[], None]] = []
"""Called in each new child before its first job."""

IDLE_SECONDS = 60
"""How long a child keeps its models without a job: some hundred megabytes."""

KILL_WITH_PARENT = 1  # PR_SET_PDEATHSIG


class Lease(Protocol):
    """The lease on a piece of work, with keys only, so that another process can renew it."""

    def renew(self) -> bool:
        """False if the lease is lost."""

    def give_back(self) -> None:
        """The work is being stopped: the attempt does not count."""

    def abandon(self) -> None:
        """Its process died: others may take it, and the attempt counts."""

    def end_late(self) -> None:
        """It was ended at its limit."""


class ChildDied(Exception):
    """The process of a job ended without a lease on work that could be tried again."""


class JobFailed(Exception):
    """The job raised; the text is its traceback."""


@dataclass(frozen=True, slots=True)
class _Hold:
    lease: Lease
    seconds: float


@dataclass(frozen=True, slots=True)
class _Release:
    lease: Lease


@dataclass(frozen=True, slots=True)
class _Progress:
    pass


@dataclass(frozen=True, slots=True)
class _Finished:
    result: Any = None
    error: str = ""


@dataclass(slots=True)
class _Child:
    process: Any
    connection: Connection
    idle_since: float = 0.0

    @property
    def is_alive(self) -> bool:
        return bool(self.process.is_alive())

    def end(self) -> None:
        """Dead when this returns, so that it can't write anything after its failure is stored."""
        self.process.kill()
        self.process.join()
        self.connection.close()


@dataclass(slots=True)
class _Held:
    """A lease of a child, until when it may have it, and when it is renewed next."""

    limit: float
    renew_at: float
    lost: bool = False


@dataclass(slots=True)
class _Watch:
    """What the child at work holds: one lease for each of its threads."""

    held: dict[Lease, _Held] = field(default_factory=dict)

    def hear(self, message: _Hold | _Release | _Progress, progress: Progress | None) -> None:
        now = monotonic()
        match message:
            case _Hold():
                # A beat longer than the work's own limit: it may notice that one and end properly.
                limit = now + message.seconds + _beat()
                self.held[message.lease] = _Held(limit, now + _beat())
            case _Release():
                self.held.pop(message.lease, None)
            case _Progress() if progress:
                progress()

    def give_back(self, *, but: Lease | None = None) -> None:
        for lease in self.held:
            if lease != but:
                lease.give_back()

    @property
    def seconds_left(self) -> float | None:
        """Until there is something to do; ``None``: wait for the child."""
        next_at = min((min(each.limit, each.renew_at) for each in self.held.values()), default=inf)
        return None if next_at == inf else max(0.0, next_at - monotonic())


def _beat() -> float:
    return float(settings.CASE_LEASE_SECONDS) / 3


@dataclass(slots=True)
class Children:
    """The child processes of this process: one for each running job, and idle ones."""

    _idle: list[_Child] = field(default_factory=list)
    _busy: list[_Child] = field(default_factory=list)
    _lock: Lock = field(default_factory=Lock)
    _stopped: bool = False

    def run(self, job: Job, *args: Any, progress: Progress | None = None) -> Any:
        """The job's result. A child that was ended or died is replaced, and the job continues.

        So it must be possible to call a job again: it then does what is left to do.
        """
        while not self._stopped:
            with self._child() as child:
                finished = None if self._stopped else self._watch(child, job, args, progress)
            if finished is not None:
                if finished.error:
                    raise JobFailed(finished.error)
                return finished.result
        return None

    def warm_up(self) -> None:
        """Load what children are forked from, so that the first job waits for no import."""
        child = _start()
        with self._lock:
            child.idle_since = monotonic()
            self._idle.append(child)
        if self._stopped:
            child.end()

    def end_idle(self) -> None:
        """Give back the memory of children that nobody has needed lately."""
        latest = monotonic() - IDLE_SECONDS
        with self._lock:
            unused = [child for child in self._idle if child.idle_since <= latest]
            self._idle = [child for child in self._idle if child.idle_since > latest]
        for child in unused:
            child.end()

    @property
    def is_stopped(self) -> bool:
        return self._stopped

    def stop(self) -> None:
        """The worker must stop: running jobs are cancelled, and no other starts."""
        self._stopped = True
        for child in [*self._busy, *self._idle]:
            child.process.kill()

    @contextmanager
    def _child(self) -> Iterator[_Child]:
        """Kept for the next job if it is still alive and has finished its work."""
        with self._lock:
            child = next((self._idle.pop() for _ in self._idle[:1]), None)
        child = child if child and child.is_alive else _start()
        self._busy.append(child)
        try:
            yield child
        except BaseException:
            child.end()
            raise
        finally:
            with self._lock:
                self._busy.remove(child)
                if child.is_alive and not self._stopped:
                    child.idle_since = monotonic()
                    self._idle.append(child)

    def _watch(
        self, child: _Child, job: Job, args: tuple[Any, ...], progress: Progress | None
    ) -> _Finished | None:
        """None if the child was ended and its job continues in another."""
        watch = _Watch()
        try:
            child.connection.send((job, args, progress is not None))
            while True:
                if child.connection.poll(watch.seconds_left):
                    message = _received(child)
                    if message is None:
                        self._bury(child, watch)
                        return None
                    if isinstance(message, _Finished):
                        return message
                    watch.hear(message, progress)
                elif not _attend(child, watch):
                    return None
        except BaseException:  # Ctrl-C
            child.end()
            watch.give_back()
            raise

    def _bury(self, child: _Child, watch: _Watch) -> None:
        if self._stopped:
            watch.give_back()
            return
        if not watch.held:
            raise ChildDied(f"A process ended with exit code {child.process.exitcode}.")
        for lease in watch.held:
            logger.warning("%s: its process ended (%s).", lease, child.process.exitcode)
            lease.abandon()


def _received(child: _Child) -> _Finished | _Hold | _Release | _Progress | None:
    """None: its process has ended."""
    try:
        message: _Finished | _Hold | _Release | _Progress = child.connection.recv()
        return message
    except (EOFError, OSError):
        child.end()
        return None


def _attend(child: _Child, watch: _Watch) -> bool:
    """Renew the child's leases, or end it: at the limit of one, or if others took its work over.

    Where its other threads have work of their own, it is not ended for what was taken over.
    """
    now = monotonic()
    for lease, held in list(watch.held.items()):
        if now >= held.limit:
            logger.warning("%s took too long: its process is ended.", lease)
            child.end()
            lease.end_late()
            watch.give_back(but=lease)
            return False
        if now < held.renew_at:
            continue
        if held.lost and len(watch.held) == 1:  # a beat ago, and the child has not let go since
            logger.warning("%s was taken over: its process is ended.", lease)
            child.end()
            return False
        held.renew_at = now + _beat()
        try:
            held.lost = not lease.renew()
        except DatabaseError:  # busy or away for a moment; the lease lasts two more tries
            connections.close_all()
    return True


children = Children()
atexit.register(children.stop)


def run(job: Job, *args: Any, progress: Progress | None = None) -> Any:
    """Do the job in a child process.

    Or here, where the settings say so, or in a process of another pool of the worker, which may
    have no children.
    """
    if settings.CASE_PROCESSES and not multiprocessing.current_process().daemon:
        return children.run(job, *args, progress=progress)
    return job(*args, **({"progress": progress} if progress else {}))


def warm_up() -> None:
    if settings.CASE_PROCESSES:
        children.warm_up()


def _start() -> _Child:
    """Forked from a process that has a single thread and no connection to a database."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(PRELOADED)
    ours, theirs = context.Pipe()
    process = context.Process(target=_serve, args=(theirs,), name="assay-cases", daemon=True)
    process.start()
    theirs.close()
    for prepare in PREPARE:
        ours.send((prepare, (), False))
        ours.recv()
    return _Child(process, ours)


# What follows runs in the child.

_watcher: Connection | None = None
_telling = Lock()
"""Of threads that have something to tell, one at a time."""


def is_watched() -> bool:
    """Whether this is a child, whose leases are renewed from outside."""
    return _watcher is not None


def hold(lease: Lease, seconds: float) -> None:
    _send(_Hold(lease, seconds))


def release(lease: Lease) -> None:
    _send(_Release(lease))


def _send(message: _Hold | _Release | _Progress) -> None:
    assert _watcher is not None
    with _telling:
        _watcher.send(message)


def _serve(connection: Connection) -> None:
    global _watcher
    _end_with_parent()
    # Both signals reach the whole process group; the watching thread decides what happens.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)
    django.setup()
    _watcher = connection
    while True:
        try:
            job, args, has_progress = connection.recv()
        except EOFError:
            return
        connection.send(_done(job, args, has_progress))


def _done(job: Job, args: tuple[Any, ...], has_progress: bool) -> _Finished:
    options: dict[str, Any] = {"progress": _tell} if has_progress else {}
    try:
        return _Finished(result=job(*args, **options))
    except Exception:  # not every exception can be sent: the traceback is, and raised by JobFailed
        return _Finished(error=traceback.format_exc())
    finally:
        connections.close_all()


def _tell() -> None:
    _send(_Progress())


def _end_with_parent() -> None:
    """A child ends with the worker, even if it hangs and the worker was killed.

    The process that children are forked from ends when the last copy of its pipe is closed, of
    which only the worker may have one; and Linux ends each child with that process.
    """
    os.close(forkserver._forkserver._forkserver_alive_fd)  # type: ignore[attr-defined]
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(KILL_WITH_PARENT, signal.SIGKILL)
