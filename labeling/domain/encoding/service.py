"""The process that computes vectors for all others of its user on a machine.

    python -m labeling.domain.encoding.service FOLDER IDLE_SECONDS

Returns when a process in the background listens at a socket in FOLDER;
:mod:`labeling.domain.encoding.shared` calls it. Small requests are computed first, those that wait
for the same network together, and as many at the same time as there are processors.
"""

from __future__ import annotations

import os

# Read when the libraries are loaded; several requests share the processors, not one of them.
os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = "1"
os.environ["TOKENIZERS_PARALLELISM"] = "false"

# isort: split
import logging
import socket
import sys
from collections.abc import Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, field
from pathlib import Path
from threading import Condition, Event, Thread
from time import monotonic
from typing import cast

import numpy as np

from labeling.domain.encoding import wire
from labeling.domain.encoding.light import LightNetwork
from labeling.domain.encoding.network import Changes, Encoded, Network
from labeling.domain.encoding.place import Place
from labeling.domain.encoding.shared import CHARACTERS, ChangesMissing, Networks

logger = logging.getLogger(__name__)

LOOK_SECONDS = 0.25
PATIENCE_SECONDS = 2.0  # what has waited longer comes before what is smaller
QUIET_SECONDS = 60.0  # a caller that connects and says nothing is hung up on


@dataclass
class Job:
    """One request, and its result."""

    request: wire.Request
    network: (
        Network | LightNetwork
    )  # held from the start: others may push it out while the job waits
    result: list[Encoded] = field(default_factory=list)
    error: str = ""
    done: Event = field(default_factory=Event)
    since: float = field(default_factory=monotonic)

    @property
    def size(self) -> int:
        return sum(map(len, self.request["texts"]))


class Jobs:
    """What waits."""

    def __init__(self) -> None:
        self._waiting: list[Job] = []
        self._changed = Condition()
        self._open = 0
        self._last = monotonic()

    def do(self, job: Job) -> None:
        with self._changed:
            self._waiting.append(job)
            self._open += 1
            self._changed.notify()
        job.done.wait()
        with self._changed:
            self._open -= 1
            self._last = monotonic()

    def take(self) -> list[Job]:
        """The smallest, with others for the same network as long as all together are small.

        Those that have waited long come first, in their order: a large one would wait for ever.
        """
        with self._changed:
            self._changed.wait_for(lambda: self._waiting)
            late = monotonic() - PATIENCE_SECONDS
            first, *others = sorted(
                self._waiting,
                key=lambda job: (0, job.since) if job.since < late else (1, job.size),
            )
            together, size = [first], first.size
            for job in others:
                if job.network is first.network and size + job.size <= CHARACTERS:
                    together.append(job)
                    size += job.size
            self._waiting = [job for job in self._waiting if job not in together]
            return together

    def idle(self) -> float:
        """Seconds without any request."""
        with self._changed:
            return 0.0 if self._open else self.silent()

    def silent(self) -> float:
        """Seconds since the last request was answered."""
        return monotonic() - self._last


class Service:
    def __init__(self, listening: socket.socket, place: Place, inode: int) -> None:
        self._listening, self._place, self._inode = listening, place, inode
        self._jobs, self._networks = Jobs(), Networks()

    def serve(self) -> None:
        for _ in range(os.cpu_count() or 1):
            Thread(target=self._compute, daemon=True).start()
        self._listening.settimeout(LOOK_SECONDS)
        while True:
            with suppress(TimeoutError):
                connection, _ = self._listening.accept()
                Thread(target=self._talk, args=[connection], daemon=True).start()
                continue
            if self._jobs.idle() >= self._place.idle_seconds and self._closed():
                return
            if not self._is_reached():
                return

    def _is_reached(self) -> bool:
        """False when its socket was removed, or replaced by the one of another process."""
        with suppress(FileNotFoundError):
            return (self._place.folder / self._place.name).stat().st_ino == self._inode
        return False

    def _closed(self) -> bool:
        """Under the lock, so that nobody starts another while this one can still be reached."""
        with self._place.alone():
            if self._jobs.idle() < self._place.idle_seconds:
                return False
            if self._is_reached():
                (self._place.folder / self._place.name).unlink(missing_ok=True)
            return True

    def _talk(self, connection: socket.socket) -> None:
        with closing(connection), suppress(OSError, EOFError):
            if not wire.is_same_user(connection):
                return
            connection.settimeout(QUIET_SECONDS)
            while True:
                request, raw = wire.receive(connection)
                wire.send(connection, *self._answer(cast(wire.Request, request), raw))

    def _answer(self, request: wire.Request, raw: bytes) -> tuple[wire.Answer, bytes]:
        if request["what"] == "alive":
            return {"silent": self._jobs.silent()}, b""
        try:
            network = self._network(request, raw)
        except ChangesMissing:
            return {"unknown": True}, b""
        except Exception as error:  # the caller says it; the next request may be sound
            logger.exception("A network could not be loaded.")
            return {"error": repr(error)}, b""
        job = Job(request, network)
        self._jobs.do(job)
        if job.error:
            return {"error": job.error}, b""
        rows = [text.sentence[None] for text in job.result]
        if request["what"] == "sentences":
            return {}, np.concatenate(rows).tobytes()
        rows += [text.tokens for text in job.result]
        pieces = [list(text.pieces) for text in job.result]
        return {"pieces": pieces}, np.concatenate(rows).astype("<f4", copy=False).tobytes()

    def _network(self, request: wire.Request, raw: bytes) -> Network | LightNetwork:
        if request.get("light"):
            return LightNetwork.kept(Path(request["folder"]))
        changes = _changes(request, raw) if request["changes"] else None
        name = (request["folder"], request["key"], request["short"])
        return self._networks.get(name, changes)

    def _compute(self) -> None:
        while True:
            jobs = self._jobs.take()
            try:
                self._encode(jobs)
            except Exception as error:  # the caller says it; the next request may be sound
                logger.exception("A request failed.")
                for job in jobs:
                    job.error = repr(error)
            for job in jobs:
                job.done.set()

    def _encode(self, jobs: Sequence[Job]) -> None:
        encoded = jobs[0].network.both([text for job in jobs for text in job.request["texts"]])
        for job in jobs:
            count = len(job.request["texts"])
            job.result, encoded = encoded[:count], encoded[count:]


def _changes(request: wire.Request, raw: bytes) -> Changes:
    numbers = np.frombuffer(raw, dtype="<f4")
    changes, end = {}, 0
    for name, *shapes in request["changes"]:
        parts = []
        for shape in shapes:
            start, end = end, end + int(np.prod(shape))
            parts.append(numbers[start:end].reshape(shape))
        changes[name] = (parts[0], parts[1])
    return changes


def main(folder: Path, idle_seconds: float) -> None:
    place = Place(folder, idle_seconds)
    place.prepare()
    ready, tell = os.pipe()
    if os.fork():  # before it listens: the socket names the process that listens as its owner
        os.close(tell)
        sys.exit(0 if os.read(ready, 1) else "The encoder's process could not listen.")
    os.setsid()
    listening, inode = _listening(place)
    os.write(tell, b"1")
    for end in (ready, tell):
        os.close(end)
    _detach(folder)
    Service(listening, place, inode).serve()
    os._exit(0)  # computing threads have nothing left to do


def _listening(place: Place) -> tuple[socket.socket, int]:
    """The socket, and the inode of its file."""
    listening = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    os.umask(0o177)
    with place.address() as address:
        Path(address).unlink(missing_ok=True)  # of one that was killed
        listening.bind(address)
        inode = Path(address).stat().st_ino
    listening.listen(64)
    return listening, inode


def _detach(folder: Path) -> None:
    """Errors go to the file ``log``; who started it waits for nothing."""
    silence = os.open(os.devnull, os.O_RDWR)
    log = os.open(folder / "log", os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_APPEND, 0o600)
    for stream, target in ((0, silence), (1, silence), (2, log)):
        os.dup2(target, stream)
    logging.basicConfig(format="%(asctime)s %(message)s")


if __name__ == "__main__":
    main(Path(sys.argv[1]), float(sys.argv[2]))
