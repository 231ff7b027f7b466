"""A real HTTP server that speaks the OpenAI protocol, well or as badly as a test wants.

The behaviours are queued and used one a request; when the queue is empty, ``default`` holds. Each
one is a name below, or a function from the request's body to a reply.
"""

from __future__ import annotations

import json
import socket
import struct
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Lock, Thread
from typing import Any

KEY = "sk-test-0123456789abcdef"
MODEL = "small-1"
SERVED = "small-1-2026-01-31"
"""The model string in the replies: servers name the exact version."""

Body = dict[str, Any]
Behaviour = str | Callable[[Body], str]


class LanguageServer(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.default: Behaviour = "good"
        self.planned: deque[Behaviour] = deque()
        self.requests: list[Body] = []
        self.answer = '{"label": "yes"}'
        self.retry_after = "0.2"
        self.key = KEY
        self.takes_format = True
        self.counts_tokens = True
        self.served = SERVED  # what it calls its model
        self.at_once = 0
        self.most_at_once = 0
        self.closing = Event()
        self.lock = Lock()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/v1"

    def plan(self, *behaviours: Behaviour) -> None:
        self.planned.extend(behaviours)

    def next(self) -> Behaviour:
        with self.lock:
            return self.planned.popleft() if self.planned else self.default

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that hangs up is what some tests are about."""


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: LanguageServer

    def log_message(self, format: str, *args: Any) -> None:
        pass

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        server = self.server
        with server.lock:
            server.requests.append(body)
            server.at_once += 1
            server.most_at_once = max(server.most_at_once, server.at_once)
        try:
            self._behave(body)
        finally:
            with server.lock:
                server.at_once -= 1

    def _behave(self, body: Body) -> None:
        server = self.server
        if self.headers["Authorization"] != f"Bearer {server.key}":
            said = f"Incorrect API key provided: {self.headers['Authorization'][7:]}"
            return self._error(401, said, "invalid_api_key")
        if "response_format" in body and not server.takes_format:
            return self._error(400, "Unknown parameter: response_format", "unknown_parameter")
        behaviour = server.next()
        if callable(behaviour):
            return self._reply(body, behaviour(body))
        return getattr(self, f"_{behaviour}")(body)

    def _good(self, body: Body) -> None:
        self._reply(body, self.server.answer)

    def _fenced(self, body: Body) -> None:
        self._reply(body, f"Here you are:\n```json\n{self.server.answer}\n```\nAnything else?")

    def _sloppy(self, body: Body) -> None:
        self._reply(body, "{label: 'yes',}")

    def _truncated(self, body: Body) -> None:
        self._reply(body, self.server.answer[:-4], finish_reason="length")

    def _broken_off(self, body: Body) -> None:
        self._reply(body, self.server.answer[:-4])

    def _wrong_schema(self, body: Body) -> None:
        self._reply(body, '{"label": 7}')

    def _prose(self, body: Body) -> None:
        self._reply(body, "I would rather talk about the weather.")

    def _empty(self, body: Body) -> None:
        self._reply(body, "")

    def _refusal(self, body: Body) -> None:
        self._reply(body, None, refusal="I cannot help with that.")

    def _filtered(self, body: Body) -> None:
        self._reply(body, "", finish_reason="content_filter")

    def _rate_limited(self, body: Body) -> None:
        self._error(
            429, "Slow down", "rate_limit_exceeded", {"Retry-After": self.server.retry_after}
        )

    def _no_quota(self, body: Body) -> None:
        self._error(429, "You exceeded your current quota", "insufficient_quota")

    def _failing(self, body: Body) -> None:
        self._error(500, "The engine stumbled", "server_error")

    def _unknown_model(self, body: Body) -> None:
        self._error(404, f"The model {body['model']} does not exist", "model_not_found")

    def _too_long(self, body: Body) -> None:
        self._error(400, "This is longer than the context of the model", "context_length_exceeded")

    def _page(self, body: Body) -> None:
        self._send(200, b"<html>Please sign in</html>", {"Content-Type": "text/html"})

    def _hanging(self, body: Body) -> None:
        self.server.closing.wait(60)

    def _dripping(self, body: Body) -> None:
        """A byte now and then, for ever: what no time-out between two bytes ever ends."""
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", "100000")
        self.end_headers()
        with suppress(OSError):
            while not self.server.closing.wait(0.05):
                self.wfile.write(b" ")
                self.wfile.flush()

    def _reset(self, body: Body) -> None:
        """The connection is torn off, not closed."""
        now = struct.pack("ii", 1, 0)
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, now)
        self.close_connection = True
        self.connection.close()

    def _reply(
        self,
        body: Body,
        text: str | None,
        *,
        finish_reason: str = "stop",
        refusal: str | None = None,
    ) -> None:
        message = {"role": "assistant", "content": text, "refusal": refusal}
        choice = {"index": 0, "message": message, "finish_reason": finish_reason}
        document: Body = {
            "id": "chatcmpl-1",
            "object": "chat.completion",
            "created": 1,
            "model": self.server.served,
            "choices": [choice],
        }
        if self.server.counts_tokens:
            usage = {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110}
            document["usage"] = usage
        self._send(200, json.dumps(document).encode())

    def _error(
        self, status: int, message: str, code: str, headers: dict[str, str] | None = None
    ) -> None:
        document = {"error": {"message": message, "type": code, "code": code, "param": None}}
        self._send(status, json.dumps(document).encode(), headers or {})

    def _send(self, status: int, body: bytes, headers: dict[str, str] | None = None) -> None:
        self.send_response(status)
        fields = {"Content-Type": "application/json"} | (headers or {})
        for name, value in fields.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


@contextmanager
def running() -> Iterator[LanguageServer]:
    server = LanguageServer()
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.closing.set()
        server.shutdown()
        server.server_close()
        thread.join()
