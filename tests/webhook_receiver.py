"""A real HTTP server that is told of events, and takes them as well or as badly as a test wants."""

from __future__ import annotations

import base64
import hashlib
import hmac
from contextlib import AbstractContextManager, suppress
from typing import NamedTuple

from tests import http_server


class Received(NamedTuple):
    path: str
    headers: dict[str, str]
    body: bytes


class Receiver(http_server.Server):
    """Behaviours are queued, one a request: a status, or the name of a method below."""

    def __init__(self) -> None:
        super().__init__(Handler)
        self.received: list[Received] = []

    @property
    def url(self) -> str:
        return f"{self.address}/hook?key=receivers-own"


class Handler(http_server.Handler):
    server: Receiver

    def do_GET(self) -> None:
        self.server.received.append(Received(f"GET {self.path}", {}, b""))
        self.answer(200)

    def do_POST(self) -> None:
        body = self.read()
        headers = {name.lower(): value for name, value in self.headers.items()}
        self.server.received.append(Received(self.path, headers, body))
        behaviour = self.server.planned.popleft() if self.server.planned else 204
        if isinstance(behaviour, int):
            return self.answer(behaviour)
        return getattr(self, f"_{behaviour}")()

    def _redirect(self) -> None:
        self.answer(302, Location=f"{self.server.address}/elsewhere")

    def _hanging(self) -> None:
        self.server.closing.wait(30)

    def _dripping(self) -> None:
        with suppress(OSError):
            self.wfile.write(b"HTTP/1.1 200 OK\r\nX-Slow: ")
        self.drip(b"x")

    def _endless_body(self) -> None:
        """It says 200 at once and never stops talking."""
        self.send_response(200)
        self.send_header("Content-Length", "1000000000")
        self.end_headers()
        self.drip(b"x")

    def _reset(self) -> None:
        self.tear_off()


def running() -> AbstractContextManager[Receiver]:
    return http_server.running(Receiver())


def signed_by(secret: str, received: Received) -> bool:
    """Whether the message is signed with the secret, by the letter of the specification."""
    key = base64.b64decode(secret.removeprefix("whsec_"))
    head = f"{received.headers['webhook-id']}.{received.headers['webhook-timestamp']}."
    digest = hmac.new(key, head.encode() + received.body, hashlib.sha256).digest()
    return f"v1,{base64.b64encode(digest).decode()}" in (
        received.headers["webhook-signature"].split(" ")
    )
