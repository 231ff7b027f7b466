"""A real HTTP server that is told of events, and takes them as well or as badly as a test wants."""

from __future__ import annotations

import socket
import struct
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Thread
from typing import Any, NamedTuple


class Received(NamedTuple):
    path: str
    headers: dict[str, str]
    body: bytes


class Receiver(ThreadingHTTPServer):
    """Behaviours are queued, one a request: a status, or the name of a method below."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.planned: deque[int | str] = deque()
        self.received: list[Received] = []
        self.closing = Event()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/hook?key=receivers-own"

    def plan(self, *behaviours: int | str) -> None:
        self.planned.extend(behaviours)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A sender that hangs up is what some tests are about."""


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Receiver

    def log_message(self, format: str, *args: Any) -> None:
        pass

    def do_GET(self) -> None:
        self.server.received.append(Received(f"GET {self.path}", {}, b""))
        self._status(200)

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        headers = {name.lower(): value for name, value in self.headers.items()}
        self.server.received.append(Received(self.path, headers, body))
        behaviour = self.server.planned.popleft() if self.server.planned else 204
        if isinstance(behaviour, int):
            return self._status(behaviour)
        return getattr(self, f"_{behaviour}")()

    def _status(self, status: int, **headers: str) -> None:
        self.send_response(status)
        for name, value in {"Content-Length": "0", **headers}.items():
            self.send_header(name, value)
        self.end_headers()

    def _redirect(self) -> None:
        self._status(302, Location=f"http://127.0.0.1:{self.server.server_port}/elsewhere")

    def _hanging(self) -> None:
        self.server.closing.wait(30)

    def _dripping(self) -> None:
        """A byte of the head now and then: what no time-out between two bytes ever ends."""
        with suppress(OSError):
            self.wfile.write(b"HTTP/1.1 200 OK\r\nX-Slow: ")
            while not self.server.closing.wait(0.05):
                self.wfile.write(b"x")

    def _endless_body(self) -> None:
        """It says 200 at once and never stops talking."""
        self.send_response(200)
        self.send_header("Content-Length", "1000000000")
        self.end_headers()
        with suppress(OSError):
            while not self.server.closing.wait(0.05):
                self.wfile.write(b"x")

    def _reset(self) -> None:
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.close_connection = True
        self.connection.close()


@contextmanager
def running() -> Iterator[Receiver]:
    server = Receiver()
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.closing.set()
        server.shutdown()
        server.server_close()
        thread.join()
