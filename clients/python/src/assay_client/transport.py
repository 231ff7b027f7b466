"""One request: sent, sent again where that is safe, and turned into data or an error."""

from __future__ import annotations

import os
import random
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from pathlib import Path
from typing import Any

import httpx

from assay_client.errors import NotAnAssay, Unreachable, api_error
from assay_client.models import Record

Query = Mapping[str, str | int | float | bool | Sequence[str | int] | None]
Upload = tuple[str, bytes]
"""The name of a file, and what is in it."""

File = str | os.PathLike[str] | Upload
"""A path, or a name with what is in the file."""

MAY_PASS = {429, 502, 503, 504}
"""Answers after which the same request may succeed."""

REPEATABLE = {"GET", "PUT"}
NOT_SENT = (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout)
NOT_TAKEN = {429}
"""After these a request was not carried out."""


@dataclass(frozen=True)
class Retries:
    """How often a request is sent in all, and how long is waited in between.

    Seconds double from ``first`` up to ``longest``, each time shortened at random by up to a half,
    so that programs that failed together do not come back together. What the server says in
    ``Retry-After`` counts instead, up to ``longest``. ``sleep`` is what waiting does, everywhere.
    """

    attempts: int = 5
    first: float = 0.5
    longest: float = 30.0
    sleep: Callable[[float], None] = time.sleep

    def pause(self, attempt: int, said: str | None) -> None:
        seconds = _seconds(said)
        if seconds is None:
            seconds = self.first * 2.0**attempt * random.uniform(0.5, 1.0)
        self.sleep(min(max(seconds, 0.0), self.longest))


class Transport:
    """What every resource sends its requests by. The token is in no log, error or ``repr``.

    GET and PUT are sent again after any trouble that may pass, and so is a POST that says
    ``again``: a second one adds nothing. Others only where they were not carried out.
    """

    def __init__(self, http: httpx.Client, retries: Retries) -> None:
        self._http = http
        self._retries = retries
        self.sleep = retries.sleep

    def close(self) -> None:
        self._http.close()

    def get(self, path: str, query: Query | None = None) -> Any:
        return self.send("GET", path, query=query)

    def post(self, path: str, json: object = None, *, again: bool = False) -> Any:
        return self.send("POST", path, json=json, again=again)

    def put(self, path: str, json: object) -> Any:
        return self.send("PUT", path, json=json)

    def delete(self, path: str, query: Query | None = None) -> Any:
        return self.send("DELETE", path, query=query)

    def upload(self, path: str, files: Sequence[Upload], fields: Mapping[str, str]) -> Any:
        sent = [("file", file) for file in files]
        return _data(self._answered("POST", path, data=dict(fields), files=sent))

    def send(
        self,
        method: str,
        path: str,
        *,
        query: Query | None = None,
        json: object = None,
        again: bool = False,
    ) -> Any:
        content: dict[str, Any] = {} if json is None else {"json": json}
        return _data(self._answered(method, path, again=again, params=_plain(query), **content))

    def download(self, path: str, to: str | os.PathLike[str], query: Query | None = None) -> Path:
        """Into a file that is complete as soon as it has its name; an older one is replaced.

        What arrives goes to a file beside it. A connection that breaks is begun again.
        """
        target = Path(to)
        with _beside(target) as part:
            for attempt in range(self._retries.attempts):
                try:
                    self._stream(path, _plain(query), part)
                except (httpx.RemoteProtocolError, httpx.ReadError, httpx.ReadTimeout) as error:
                    if attempt + 1 == self._retries.attempts:
                        raise _unreachable(error) from error
                    self._retries.pause(attempt, None)
                else:
                    break
            part.replace(target)
        return target

    def text(self, path: str, query: Query | None = None) -> str:
        return self._answered("GET", path, params=_plain(query)).text

    def _stream(self, path: str, query: dict[str, Any], part: Path) -> None:
        response = self._answered("GET", path, params=query, stream=True)
        try:
            with part.open("wb") as file:
                for piece in response.iter_bytes():
                    file.write(piece)
        finally:
            response.close()

    def _answered(
        self, method: str, path: str, *, stream: bool = False, again: bool = False, **content: Any
    ) -> httpx.Response:
        again = again or method in REPEATABLE
        for attempt in range(self._retries.attempts):
            is_last = attempt + 1 == self._retries.attempts
            try:
                request = self._http.build_request(method, path, **content)
                response = self._http.send(request, stream=stream)
            except httpx.TransportError as error:
                if is_last or not (again or isinstance(error, NOT_SENT)):
                    raise _unreachable(error) from error
                self._retries.pause(attempt, None)
                continue
            if not is_last and response.status_code in (MAY_PASS if again else NOT_TAKEN):
                response.close()
                self._retries.pause(attempt, response.headers.get("Retry-After"))
                continue
            return _accepted(response)
        raise Unreachable("No attempt was allowed: attempts has to be at least 1.")


def uploads(files: Sequence[File]) -> list[Upload]:
    return [
        file if isinstance(file, tuple) else (Path(file).name, Path(file).read_bytes())
        for file in files
    ]


def _accepted(response: httpx.Response) -> httpx.Response:
    if response.is_success:
        return response
    response.read()
    if response.is_redirect:
        raise NotAnAssay(
            f"{response.request.url} leads to {response.headers.get('Location')}: "
            "give the address that the server has itself."
        )
    body: object = None
    with suppress(ValueError):
        body = response.json()
    raise api_error(response.status_code, body)


def _data(response: httpx.Response) -> Any:
    if response.status_code == httpx.codes.NO_CONTENT or not response.content:
        return None
    try:
        return response.json(object_hook=Record)
    except ValueError as error:
        raise NotAnAssay(
            f"{response.request.url} answered with something else than JSON."
        ) from error


def _plain(query: Query | None) -> dict[str, Any]:
    return {name: value for name, value in (query or {}).items() if value is not None}


def _unreachable(error: httpx.TransportError) -> Unreachable:
    about = f" ({error.request.url})" if error._request is not None else ""
    return Unreachable(
        f"The server does not answer: {error or type(error).__name__}{about}{_perhaps(error)}"
    )


def _perhaps(error: httpx.TransportError) -> str:
    if isinstance(error, NOT_SENT) or error._request is None or error.request.method == "GET":
        return ""
    return ". It may have been carried out: look before you send it again"


def _seconds(said: str | None) -> float | None:
    """``Retry-After`` as seconds from now; it may be a date."""
    if not said:
        return None
    with suppress(ValueError):
        return float(said)
    with suppress(ValueError):
        return parsedate_to_datetime(said).timestamp() - time.time()
    return None


@contextmanager
def _beside(target: Path) -> Iterator[Path]:
    """A new file in the same folder, which goes unless it has been renamed."""
    handle, name = tempfile.mkstemp(prefix=f".{target.name}.", suffix=".part", dir=target.parent)
    os.close(handle)
    part = Path(name)
    try:
        yield part
    finally:
        part.unlink(missing_ok=True)
