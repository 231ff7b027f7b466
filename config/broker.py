"""A message queue made of files, for one machine without a broker to install.

kombu's own file transport writes a message where readers already look for it and may hand on half
of it; and it moves what it reads through the system's temporary folder, which other users share.
Here a message appears and is taken by a rename: one reader gets it, and gets all of it. A wake-up
that waits already is not written a second time, and folders that somebody removed are made again.
"""

import hashlib
import os
from collections import deque
from pathlib import Path
from queue import Empty
from time import monotonic, sleep, time_ns
from typing import Any
from uuid import uuid4

from kombu.transport import TRANSPORT_ALIASES, filesystem, virtual
from kombu.transport.virtual import BrokerState
from kombu.utils.json import dumps, loads

SCHEME = "files"
TRANSPORT_ALIASES[SCHEME] = "config.broker:Transport"
TRANSPORT_ALIASES["database"] = "config.database_broker:Transport"
TRANSPORT_ALIASES["redis"] = TRANSPORT_ALIASES["rediss"] = "config.redis_broker:Transport"

BUSY_SECONDS = 0.02
"""How often a busy worker gets the chance to acknowledge and continue."""

SAME = ("task", "eta", "expires", "retries")
"""Headers by which two messages with the same arguments are the same wake-up."""


class Channel(filesystem.Channel):
    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._waiting: dict[str, deque[Path]] = {}

    # kombu's own two classes disagree on the arguments.
    def _put(self, queue: str, message: Any, **kwargs: Any) -> None:  # type: ignore[override]
        digest = digest_of(message)
        if digest and self._is_waiting(queue, digest):
            return
        # Read in the order of the names; the zeros keep the order of numbers.
        name = f"{time_ns():020d}_{digest or uuid4().hex}.{queue}.msg"
        folder = Path(self.data_folder_out)
        text = dumps(message)
        try:
            _write(folder / name, text)
        except FileNotFoundError:
            self._make_folders()
            _write(folder / name, text)

    def _get(self, queue: str, timeout: float | None = None) -> Any:
        """The folder is listed when all that was seen the last time is taken."""
        waiting = self._waiting.setdefault(queue, deque())
        if not waiting:
            waiting.extend(self._listed(queue))
        while waiting:
            path = waiting.popleft()
            taken = Path(self.processed_folder) / path.name
            if self._take(path, taken):
                payload = loads(taken.read_text(encoding="utf-8"))
                taken.unlink()
                return payload
        raise Empty

    def _take(self, path: Path, taken: Path) -> bool:
        """False: another worker was faster."""
        try:
            path.replace(taken)
        except FileNotFoundError:
            if not path.exists():
                return False
            self._make_folders()
            path.replace(taken)
        return True

    def _size(self, queue: str) -> int:
        return len(self._listed(queue))

    def _listed(self, queue: str) -> list[Path]:
        folder, end = Path(self.data_folder_in), f".{queue}.msg"
        try:
            return [folder / name for name in sorted(os.listdir(folder)) if name.endswith(end)]
        except FileNotFoundError:
            self._make_folders()
            return []

    def _is_waiting(self, queue: str, digest: str) -> bool:
        """Who takes it from now on sees all that was stored before: once is enough."""
        return any(path.name.endswith(f"_{digest}.{queue}.msg") for path in self._listed(queue))

    def _make_folders(self) -> None:
        for folder in (self.data_folder_in, self.processed_folder, self.control_folder):
            Path(folder).mkdir(parents=True, exist_ok=True)

    def _queue_bind(self, exchange: str, routing_key: str, pattern: str, queue: str) -> None:
        self.connection.bindings.setdefault(exchange, set()).add((routing_key, pattern, queue))
        self._make_folders()
        super()._queue_bind(exchange, routing_key, pattern, queue)

    def get_table(self, exchange: str) -> Any:
        """Without its file, kombu would drop what is sent without a word."""
        if not self._exchange_file(exchange).exists():
            for binding in self.connection.bindings.get(exchange, ()):
                self._queue_bind(exchange, *binding)
        return super().get_table(exchange)


class Patient(virtual.Transport):
    """Waits for messages without keeping a worker from what else it has to do."""

    def drain_events(self, connection: Any, timeout: float | None = None, **kwargs: Any) -> None:
        """Deliver one message, or wait for one.

        A full worker acknowledges only between two calls, so this returns at once.
        """
        end = None if timeout is None else monotonic() + timeout
        while True:
            try:
                assert self.cycle is not None  # only a closed connection has none
                self.cycle.get(self._deliver, timeout=timeout)
                return
            except Empty:
                if self._is_full():
                    sleep(BUSY_SECONDS)
                    raise TimeoutError from None
                if end is not None and monotonic() >= end:
                    raise TimeoutError from None
                self._pause(min(self.polling_interval, timeout or self.polling_interval))

    def _pause(self, seconds: float) -> None:
        """Until there may be a message."""
        sleep(seconds)

    def _is_full(self) -> bool:
        consuming = [channel for channel in self.channels if channel._consumers]
        return bool(consuming) and not any(channel.qos.can_consume() for channel in consuming)


class Transport(Patient, filesystem.Transport):
    Channel = Channel

    def __init__(self, client: Any, **kwargs: Any) -> None:
        super().__init__(client, **kwargs)
        # kombu shares this among all queues of a process and then drops, without a word, what is
        # sent to a second folder: it takes that one's routes for written.
        self.state = BrokerState()
        self.bindings: dict[str, set[tuple[str, str, str]]] = {}


def _write(path: Path, text: str) -> None:
    unfinished = path.with_name(f"{path.name}.part")
    unfinished.write_text(text, encoding="utf-8")
    unfinished.replace(path)


def digest_of(message: Any) -> str:
    """Of a task's name and arguments; empty for other messages."""
    headers = message.get("headers") or {}
    if not headers.get("task"):
        return ""
    content = [message.get("body"), *(headers.get(name) for name in SAME)]
    return hashlib.sha256(dumps(content).encode()).hexdigest()


def options(folder: Path) -> dict[str, Any]:
    """Transport options for a queue below ``folder``, which is made when it is missing."""
    parts = {name: folder / name for name in ("messages", "taken", "control")}
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    for part in parts.values():
        part.mkdir(parents=True, exist_ok=True)
    return {
        "data_folder_in": str(parts["messages"]),
        "data_folder_out": str(parts["messages"]),
        "processed_folder": str(parts["taken"]),
        "control_folder": str(parts["control"]),
        "polling_interval": 0.3,  # seconds
    }
