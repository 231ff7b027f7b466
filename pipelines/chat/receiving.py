"""What a model's server may send: no redirect, nothing packed, and no more than a limit.

A reply is read piece by piece and given up at the limit, so that no server decides how much memory
a worker needs. What is packed could become any size when it is unpacked.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from importlib import import_module
from typing import Any
from urllib.parse import urljoin, urlsplit, urlunsplit

from pipelines.chat.endpoint import Endpoint
from pipelines.llm import InvalidReply, TooLargeReply, UnknownModel

ACCEPTED = {"Accept-Encoding": "identity"}
LONGEST_ADDRESS = 200
MEGABYTE = 1024 * 1024


def guard(endpoint: Endpoint) -> Callable[[Any], Awaitable[None]]:
    """A hook for responses of which nothing but the head has been read."""
    limit = endpoint.max_reply_bytes

    async def check(response: Any) -> None:
        if 300 <= response.status_code < 400:
            told = {"to": _target(response) or "?", "setting": endpoint.setting("base_url")}
            raise UnknownModel("model.redirected", status=response.status_code, **told)
        length = response.headers.get("content-length", "")
        if length.isascii() and length.isdecimal() and int(length[:20]) > limit:
            raise _too_large(limit)
        packing = response.headers.get("content-encoding", "").strip().lower()
        if packing not in ("", "identity"):
            said = f"The reply is packed by {packing[:50]!r}, which was not asked for"
            raise InvalidReply("model.not_a_chat_completion", said=said)
        response.stream = _capped_stream(response, limit)

    return check


def _too_large(limit: int) -> TooLargeReply:
    return TooLargeReply("model.reply_too_large", limit=round(limit / MEGABYTE, 3))


def _capped_stream(response: Any, limit: int) -> Any:
    """A stream of the library that the response is of: clients bring their own copy of httpx."""
    library = import_module(type(response).__module__.partition(".")[0])
    stream = response.stream

    class Capped(library.AsyncByteStream):  # type: ignore[misc, name-defined]
        async def __aiter__(self) -> AsyncIterator[bytes]:
            received = 0
            async for piece in stream:
                received += len(piece)
                if received > limit:
                    raise _too_large(limit)
                yield piece

        async def aclose(self) -> None:
            await stream.aclose()

    return Capped()


def _target(response: Any) -> str:
    """Where a redirect leads, without what may be a secret in it."""
    location = response.headers.get("location", "")
    try:
        parts = urlsplit(urljoin(str(response.request.url), location))
    except ValueError:
        return ""
    bare = parts._replace(netloc=parts.netloc.rpartition("@")[2], query="", fragment="")
    readable = "".join(sign for sign in urlunsplit(bare) if sign.isprintable())
    return readable[:LONGEST_ADDRESS]
