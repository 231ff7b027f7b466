"""A real HTTP server that speaks the OpenAI protocol, well or as badly as a test wants.

The behaviours are queued and used one a request; when the queue is empty, ``default`` holds. Each
one is a name below, or a function from the request's body to a reply.
"""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from functools import cache
from threading import Lock
from typing import Any

import pytest

from pipelines.chat import background
from tests import http_server

KEY = "sk-test-0123456789abcdef"
MODEL = "small-1"
SERVED = "small-1-2026-01-31"
"""The model string in the replies: servers name the exact version."""

STREAM = "text/event-stream"

Body = dict[str, Any]
Behaviour = str | Callable[[Body], str]


class LanguageServer(http_server.Server):
    def __init__(self) -> None:
        super().__init__(Handler)
        self.default: Behaviour = "good"
        self.requests: list[Body] = []
        self.answer = '{"label": "yes"}'
        self.retry_after = "0.2"
        self.key = KEY
        self.refuses_format = 0
        """The status by which a schema is refused; 0: it is taken."""
        self.unknown: set[str] = set()  # parameters that it refuses
        self.counts_tokens = True
        self.usage: Any = {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110}
        self.elsewhere = ""  # where it redirects to
        self.megabytes = 64  # of replies that are too long
        self.sent_bytes = 0  # of bodies that have no end
        self.served = SERVED  # what it calls its model
        self.at_once = 0
        self.most_at_once = 0
        self.lock = Lock()

    @property
    def url(self) -> str:
        return f"{self.address}/v1"

    def next(self) -> Behaviour:
        with self.lock:
            return self.planned.popleft() if self.planned else self.default


class Handler(http_server.Handler):
    server: LanguageServer

    def do_POST(self) -> None:
        body = json.loads(self.read())
        server = self.server
        with server.lock:
            server.requests.append(body)
            server.at_once += 1
            server.most_at_once = max(server.most_at_once, server.at_once)
        self.is_under_way = True
        try:
            self._behave(body)
        finally:
            self._end()

    def _end(self) -> None:
        """Before the reply: whoever has it may ask again at once."""
        with self.server.lock:
            self.server.at_once -= self.is_under_way
            self.is_under_way = False

    def _behave(self, body: Body) -> None:
        server = self.server
        if self.headers["Authorization"] != f"Bearer {server.key}":
            said = f"Incorrect API key provided: {self.headers['Authorization'][7:]}"
            return self._error(401, said, "invalid_api_key")
        if "response_format" in body and server.refuses_format:
            said = "Unknown parameter: response_format"
            return self._error(server.refuses_format, said, "unknown_parameter")
        for name in server.unknown & body.keys():
            said = f"Unsupported parameter: '{name}' is not supported with this model."
            return self._error(400, said, "unsupported_parameter")
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
        after = self.server.retry_after
        self._error(429, "Slow down", "rate_limit_exceeded", Retry_After=after)

    def _too_long_without_code(self, body: Body) -> None:
        self._error(400, "This model's maximum context length is 4096 tokens, not 9000", "")

    def _no_quota(self, body: Body) -> None:
        self._error(429, "You exceeded your current quota", "insufficient_quota")

    def _failing(self, body: Body) -> None:
        self._error(500, "The engine stumbled", "server_error")

    def _unknown_model(self, body: Body) -> None:
        self._error(404, f"The model {body['model']} does not exist", "model_not_found")

    def _too_long(self, body: Body) -> None:
        self._error(400, "This is longer than the context of the model", "context_length_exceeded")

    def _page(self, body: Body) -> None:
        self.answer(200, b"<html>Please sign in</html>", Content_Type="text/html")

    def _odd_words(self, body: Body) -> None:
        self._error(400, "This text is about the temperature of an oven", "bad_text")

    def _page_not_found(self, body: Body) -> None:
        self.answer(404, b"<!DOCTYPE html><p>Nothing here</p>", Content_Type="text/html")

    def _hanging(self, body: Body) -> None:
        self.server.closing.wait(60)

    def _torn(self, body: Body) -> None:
        """Breaks off within the stream."""
        self._stream_begun()
        self.tear_off()

    def _unfinished(self, body: Body) -> None:
        """The stream ends before the reply does."""
        self._stream_begun()
        self.wfile.write(b"0\r\n\r\n")

    def _stumbling(self, body: Body) -> None:
        """Says within the stream that it failed."""
        self._stream_begun()
        self._chunk('data: {"error": {"message": "The engine stumbled"}}\n\n')
        self.wfile.write(b"0\r\n\r\n")

    def _stalling(self, body: Body) -> None:
        """Says something, and then nothing more."""
        self._stream_begun()
        self.server.closing.wait(60)

    def _stream_begun(self) -> None:
        self._end()
        self._begin(STREAM, "chunked")
        delta = {"index": 0, "delta": {"content": "Let me think."}, "finish_reason": None}
        self._chunk(f"data: {json.dumps({'model': self.server.served, 'choices': [delta]})}\n\n")

    def _chunk(self, piece: str) -> None:
        self.wfile.write(f"{len(piece):x}\r\n{piece}\r\n".encode())
        self.wfile.flush()

    def _dripping(self, body: Body) -> None:
        self.send_response(200)
        self.send_header("Content-Type", STREAM)
        self.send_header("Content-Length", "100000")
        self.end_headers()
        self.drip(b" ")

    def _endless(self, body: Body) -> None:
        """As fast as it is taken, until the client hangs up."""
        self._begin(STREAM, "chunked")
        piece = b" " * 65536
        with suppress(OSError):
            while not self.server.closing.is_set():
                self.wfile.write(b"10000\r\n" + piece + b"\r\n")
                self.server.sent_bytes += len(piece)

    def _bomb(self, body: Body) -> None:
        """Blanks, a thousand times as many as are sent."""
        packed = bomb(self.server.megabytes)
        with suppress(OSError):
            self.answer(200, packed, Content_Type="application/json", Content_Encoding="gzip")

    def _packed(self, body: Body) -> None:
        document = {"model": self.server.served, "choices": [_choice(self.server.answer)]}
        packed = gzip.compress(json.dumps(document).encode())
        self.answer(200, packed, Content_Type="application/json", Content_Encoding="gzip")

    def _large(self, body: Body) -> None:
        """A valid reply, only long."""
        text = json.dumps({"label": "y" * self.server.megabytes * 2**20})
        with suppress(OSError):
            self._reply(body, text)

    def _deep(self, body: Body) -> None:
        self.answer(200, b"data: " + b"[" * 100_000 + b"\n\n", Content_Type=STREAM)

    def _long_number(self, body: Body) -> None:
        number = b'data: {"choices": ' + b"9" * 5000 + b"}\n\n"
        self.answer(200, number, Content_Type=STREAM)

    def _other_shape(self, body: Body) -> None:
        self.answer(200, b'data: {"choices": [{"delta": null}]}\n\n', Content_Type=STREAM)

    def _moved(self, body: Body) -> None:
        self.answer(307, Location=self.server.elsewhere)

    def _begin(self, kind: str, coding: str) -> None:
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Transfer-Encoding", coding)
        self.end_headers()

    def _reset(self, body: Body) -> None:
        self.tear_off()

    def _reply(
        self,
        body: Body,
        text: str | None,
        *,
        finish_reason: str = "stop",
        refusal: str | None = None,
    ) -> None:
        document: Body = {
            "id": "chatcmpl-1",
            "object": "chat.completion",
            "created": 1,
            "model": self.server.served,
            "choices": [_choice(text, finish_reason, refusal)],
        }
        counts = self.server.counts_tokens and "stream_options" in body
        self._stream(document, self.server.usage if counts else None)

    def _stream(self, document: Body, usage: Any) -> None:
        """The text in three pieces, then its end, then the count, as servers send them."""
        (choice,) = document.pop("choices")
        text = choice["message"]["content"] or ""
        third = len(text) // 3 + 1
        deltas: list[Body] = [
            {"content": text[at : at + third]} for at in range(0, len(text), third)
        ]
        deltas[:0] = [{"role": "assistant", "refusal": choice["message"]["refusal"]}]
        chunks = [{"index": 0, "delta": delta, "finish_reason": None} for delta in deltas]
        chunks += [{"index": 0, "delta": {}, "finish_reason": choice["finish_reason"]}]
        documents = [{**document, "choices": [chunk]} for chunk in chunks]
        if usage is not None:
            documents.append({**document, "choices": [], "usage": usage})
        lines = [f"data: {json.dumps(each)}\n\n" for each in documents]
        self._end()
        self.answer(200, "".join([*lines, "data: [DONE]\n\n"]).encode(), Content_Type=STREAM)

    def _error(self, status: int, message: str, code: str, **headers: str) -> None:
        said = {"message": message, "type": code, "code": code, "param": None}
        self._send(status, {"error": said}, **headers)

    def _send(self, status: int, document: Body, **headers: str) -> None:
        self._end()
        body = json.dumps(document).encode()
        self.answer(status, body, Content_Type="application/json", **headers)


@cache
def bomb(megabytes: int) -> bytes:
    packer = zlib.compressobj(9, zlib.DEFLATED, zlib.MAX_WBITS | 16)
    return b"".join(packer.compress(b" " * 2**20) for _ in range(megabytes)) + packer.flush()


def _choice(text: str | None, finish_reason: str = "stop", refusal: str | None = None) -> Body:
    message = {"role": "assistant", "content": text, "refusal": refusal}
    return {"index": 0, "message": message, "finish_reason": finish_reason}


def end_soon_what_hangs(monkeypatch: pytest.MonkeyPatch, server: LanguageServer) -> None:
    """Only a request that is to hang is given little time: a busy machine needs it for others."""
    run = background.run

    def limited(work: Any, *, seconds: float) -> Any:
        hangs = bool(server.planned) and server.planned[0] == "hanging"
        return run(work, seconds=0.3 if hangs else seconds)

    monkeypatch.setattr(background, "run", limited)


def running() -> AbstractContextManager[LanguageServer]:
    return http_server.running(LanguageServer())


@contextmanager
def named_by(settings: Any) -> Iterator[LanguageServer]:
    """A server that the settings of this process name."""
    with running() as server:
        settings.LLM_MODEL = MODEL
        settings.LLM_BASE_URL = server.url
        settings.LLM_API_KEY = KEY
        settings.LLM_PROVIDER = "test"
        settings.LLM_TIMEOUT_SECONDS = 30.0
        settings.LLM_INPUT_PRICE, settings.LLM_OUTPUT_PRICE = 2.0, 10.0
        yield server
