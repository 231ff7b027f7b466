"""The network for the processes of one machine: loaded once, by a process that ends when idle.

A process that needs vectors asks that one by a socket in a private folder, and starts it where it
is missing. If it dies, or doesn't answer in time, it is started again. Without
:func:`labeling.domain.encoding.place.use` the network is loaded into the process that asks.
"""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from time import sleep

import numpy as np

from labeling.domain.encoding import network, place, wire
from labeling.domain.encoding.light import LightNetwork
from labeling.domain.encoding.network import DIMENSIONS, Changes, Encoded, Network, Vectors
from labeling.domain.encoding.place import Place

ANSWER_SECONDS = 300.0  # a few thousand tokens; a second or two unless the machine is very busy
ALIVE_SECONDS = 5.0  # to say that it is alive, which needs no computing
CHARACTERS = 8000  # of a request: about 2,000 tokens, so that a question waits for no more
PAUSES = (0.2, 1.0)  # seconds between tries: a killed process may still accept for a moment
START_SECONDS = 60.0  # all others wait meanwhile
AT_HAND = 4  # networks; each takes 42 MB
ROOT = Path(__file__).resolve().parents[3]


class EncoderFailed(ConnectionError):
    """The process of the encoder died or was silent, again and again; worth trying again later."""


def get(
    folder: Path, key: str = "", changes: Changes | None = None, *, short: bool = False
) -> Network | Remote:
    """The network in ``folder``; ``key`` names ``changes`` of its matrices."""
    at = place.current()
    if at is None:
        return _here.get((str(folder), key, short), changes)
    return Remote(at, folder, key, changes, short)


def light(folder: Path) -> LightNetwork | Remote:
    """The network in ``folder`` without torch."""
    at = place.current()
    return LightNetwork.kept(folder) if at is None else Remote(at, folder, light=True)


class ChangesMissing(LookupError):
    """The changes of a network are unknown; the plain one must never answer for it."""


class Networks:
    """Those used last."""

    def __init__(self) -> None:
        self._kept: OrderedDict[tuple[str, str, bool], Network] = OrderedDict()
        self._lock = Lock()

    def get(self, name: tuple[str, str, bool], changes: Changes | None = None) -> Network:
        """By folder, key and whether it multiplies in bfloat16."""
        with self._lock:
            if name not in self._kept:
                if name[1] and changes is None:
                    raise ChangesMissing(name[1])
                self._kept[name] = Network(Path(name[0]), changes, short=name[2])
            self._kept.move_to_end(name)
            while len(self._kept) > AT_HAND:
                self._kept.popitem(last=False)
            return self._kept[name]


_here = Networks()


@dataclass(frozen=True)
class Remote:
    """A network in another process."""

    place: Place
    folder: Path
    key: str = ""
    changes: Changes | None = None
    short: bool = False
    light: bool = False

    def sentences(self, texts: Sequence[str]) -> Vectors:
        rows = np.empty((len(texts), DIMENSIONS), dtype=np.float32)
        for part, (_, vectors) in self._asked("sentences", texts):
            rows[part] = vectors
        return rows

    def both(self, texts: Sequence[str]) -> list[Encoded]:
        encoded: dict[int, Encoded] = {}
        for part, (answer, vectors) in self._asked("both", texts):
            ends = np.cumsum([len(pieces) for pieces in answer["pieces"]])[:-1]
            tokens = np.split(vectors[len(part) :], ends)
            for at, row, pieces, own in zip(part, vectors, answer["pieces"], tokens, strict=False):
                encoded[at] = Encoded(row, tuple(pieces), own)
        return [encoded[at] for at in range(len(texts))]

    def _asked(
        self, what: wire.What, texts: Sequence[str]
    ) -> Iterator[tuple[list[int], tuple[wire.Answer, Vectors]]]:
        """Answers for parts of the texts, of similar length each, with their places."""
        for part in _parts(texts):
            wanted = [network.sound(texts[at]) for at in part]
            request = wire.Request(
                what=what,
                folder=str(self.folder),
                key=self.key,
                short=self.short,
                light=self.light,
                texts=wanted,
                changes=[],
            )
            yield part, self._answer(request)

    def _answer(self, request: wire.Request) -> tuple[wire.Answer, Vectors]:
        for pause in PAUSES:
            try:
                return self._once(request)
            except (OSError, EOFError):  # it died meanwhile, or was about to end
                sleep(pause)
        try:
            return self._once(request)
        except (OSError, EOFError) as error:
            raise EncoderFailed(f"The encoder's process failed again: {error!r}") from error

    def _once(self, request: wire.Request) -> tuple[wire.Answer, Vectors]:
        with closing(connected(self.place)) as connection:
            try:
                answer, vectors = wire.ask(connection, request)
                if answer.get("unknown"):
                    answer, vectors = wire.ask(connection, *_with_changes(request, self.changes))
            except TimeoutError:
                process = wire.peer(connection)
                if process > 1 and not _is_alive(self.place):  # 0: not of this container
                    os.kill(process, signal.SIGKILL)
                raise
        if "error" in answer:
            raise RuntimeError(f"The encoder's process: {answer['error']}")
        return answer, vectors


def _parts(texts: Sequence[str]) -> Iterator[list[int]]:
    part: list[int] = []
    size = 0
    for at in sorted(range(len(texts)), key=lambda at: len(texts[at])):
        longest = min(len(texts[at]), 4 * network.LONGEST)
        if part and size + longest > CHARACTERS:
            yield part
            part, size = [], 0
        part.append(at)
        size += longest
    if part:
        yield part


def _with_changes(request: wire.Request, changes: Changes | None) -> tuple[wire.Request, bytes]:
    """Sent to a process that doesn't know them yet."""
    parts = changes or {}
    shapes = [(name, down.shape, up.shape) for name, (down, up) in parts.items()]
    raw = b"".join(part.astype("<f4").tobytes() for both in parts.values() for part in both)
    return wire.Request(**{**request, "changes": shapes}), raw


def connected(at: Place) -> socket.socket:
    """A connection to the process at ``at``, which is started if it isn't there."""
    at.prepare()
    connection = _connection(at)
    if connection is None:
        with at.alone():
            connection = _connection(at)
            if connection is None:
                _start(at)
                connection = _connection(at)
    if connection is None:
        raise ConnectionRefusedError("The encoder's process ended at once.")
    return connection


def _is_alive(at: Place) -> bool:
    """It answers, and others got vectors meanwhile: a longer wait is for them."""
    request = wire.Request(what="alive", folder="", key="", short=False, texts=[], changes=[])
    try:
        connection = _connection(at, ALIVE_SECONDS)
        if connection is None:
            return False
        with closing(connection):
            answer, _ = wire.ask(connection, request)
    except (OSError, EOFError):
        return False
    return answer["silent"] < ANSWER_SECONDS


def _connection(at: Place, seconds: float = ANSWER_SECONDS) -> socket.socket | None:
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    connection.settimeout(seconds)
    try:
        with at.address() as address:
            connection.connect(address)
    except (FileNotFoundError, ConnectionRefusedError):
        connection.close()
        return None
    return connection


def _start(at: Place) -> None:
    """Returns when the process listens."""
    command = [
        sys.executable,
        "-m",
        "labeling.domain.encoding.service",
        str(at.folder),
        str(at.idle_seconds),
    ]
    try:
        subprocess.run(
            command, cwd=ROOT, check=True, stdin=subprocess.DEVNULL, timeout=START_SECONDS
        )
    except subprocess.SubprocessError as error:
        raise ConnectionError(f"The encoder's process did not start: {error}") from error
