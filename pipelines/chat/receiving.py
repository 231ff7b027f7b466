"""What a model's server may send: no redirect, nothing packed, and no more than a limit.

A reply is read piece by piece and given up at the limit, so that no server decides how much memory
a worker needs. What is packed could become any size when it is unpacked.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from importlib import import_module
from typing import Any
from urllib.parse import urljoin, urlsplit, urlunsplit

ACCEPTED = {"Accept-Encoding": "identity"}
LONGEST_ADDRESS = 200
MEGABYTE = 1024 * 1024


class Refusal(Exception):
    """What the server sends is not read any further."""


class TooLarge(Refusal):
    def __init__(self, limit: int) -> None:
        super().__init__(f"The reply is larger than {limit} bytes.")
        self.limit = limit


class Redirected(Refusal):
    def __init__(self, status: int, to: str) -> None:
        super().__init__(f"The server redirects ({status}).")
        self.status, self.to = status, to


class UnknownPacking(Refusal):
    def __init__(self, name: str) -> None:
        super().__init__(f"The reply is packed by {name!r}, which was not asked for.")


def guard(limit: int) -> Callable[[Any], Awaitable[None]]:
    """A hook for responses of which nothing but the head has been read."""

    async def check(response: Any) -> None:
        if 300 <= response.status_code < 400:
            raise Redirected(response.status_code, target(response))
        length = response.headers.get("content-length", "")
        if length.isascii() and length.isdecimal() and int(length[:20]) > limit:
            raise TooLarge(limit)
        packing = response.headers.get("content-encoding", "").strip().lower()
        if packing not in ("", "identity"):
            raise UnknownPacking(packing[:50])
        response.stream = _capped_stream(response, limit)

    return check


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
                    raise TooLarge(limit)
                yield piece

        async def aclose(self) -> None:
            await stream.aclose()

    return Capped()


def target(response: Any) -> str:
    """Where a redirect leads, without what may be a secret in it."""
    location = response.headers.get("location", "")
    try:
        parts = urlsplit(urljoin(str(response.request.url), location))
    except ValueError:
        return ""
    bare = parts._replace(netloc=parts.netloc.rpartition("@")[2], query="", fragment="")
    readable = "".join(sign for sign in urlunsplit(bare) if sign.isprintable())
    return readable[:LONGEST_ADDRESS]
