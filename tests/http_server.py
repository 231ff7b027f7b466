"""A real HTTP server for tests, which behaves one request after the other as it is told to."""

from __future__ import annotations

import socket
import struct
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Thread
from typing import Any, TypeVar


class Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64

    def __init__(self, handler: type[Handler]) -> None:
        super().__init__(("127.0.0.1", 0), handler)
        self.planned: deque[Any] = deque()
        self.closing = Event()

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"

    def plan(self, *behaviours: Any) -> None:
        self.planned.extend(behaviours)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that hangs up is what some tests are about."""


class Handler(BaseHTTPRequestHandler):
    disable_nagle_algorithm = True  # else each answer waits 40 ms for an acknowledgement
    protocol_version = "HTTP/1.1"
    server: Server

    def log_message(self, format: str, *args: Any) -> None:
        pass

    def read(self) -> bytes:
        return self.rfile.read(int(self.headers["Content-Length"]))

    def answer(self, status: int, body: bytes = b"", **headers: str) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def drip(self, byte: bytes) -> None:
        """A byte now and then, for ever: what no time-out between two bytes ever ends."""
        with suppress(OSError):
            while not self.server.closing.wait(0.05):
                self.wfile.write(byte)

    def tear_off(self) -> None:
        """The connection is torn off, not closed."""
        now = struct.pack("ii", 1, 0)
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, now)
        self.close_connection = True
        self.connection.close()


S = TypeVar("S", bound=Server)


@contextmanager
def running(server: S) -> Iterator[S]:
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.closing.set()
        server.shutdown()
        server.server_close()
        thread.join()
