"""A browser's part of HTTP: cookies and a connection that stays open."""

from __future__ import annotations

import http.client
import json
import re
import time
import uuid
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode

from benchmarks.peers.machine import Failed

SECONDS_TO_ANSWER = 300
SECONDS_OPEN = 1.0  # servers close a connection that waited longer, perhaps while it is used


class Client:
    def __init__(self, port: int, **headers: str) -> None:
        self.cookies: dict[str, str] = {}
        self._headers = headers
        self._http = http.client.HTTPConnection("127.0.0.1", port, timeout=SECONDS_TO_ANSWER)
        self._used = 0.0

    def get(self, path: str) -> bytes:
        return self.send("GET", path)

    def json(self, method: str, path: str, body: Any = None) -> Any:
        text = b"" if body is None else json.dumps(body).encode()
        return json.loads(self.send(method, path, text, "application/json") or b"null")

    def form(self, path: str, fields: Mapping[str, str]) -> bytes:
        return self.send(
            "POST", path, urlencode(fields).encode(), "application/x-www-form-urlencoded"
        )

    def upload(self, path: str, field: str, content: bytes, name: str, **fields: str) -> bytes:
        """A form with a file, as a browser sends it."""
        mark = uuid.uuid4().hex
        head = "".join(
            f'--{mark}\r\nContent-Disposition: form-data; name="{key}"\r\n\r\n{value}\r\n'
            for key, value in fields.items()
        )
        head += (
            f'--{mark}\r\nContent-Disposition: form-data; name="{field}"; filename="{name}"\r\n'
            "Content-Type: application/json\r\n\r\n"
        )
        body = head.encode() + content + f"\r\n--{mark}--\r\n".encode()
        return self.send("POST", path, body, f"multipart/form-data; boundary={mark}")

    def send(self, method: str, path: str, body: bytes = b"", kind: str = "") -> bytes:
        if time.monotonic() - self._used > SECONDS_OPEN:
            self._http.close()
        headers = dict(self._headers)
        if kind:
            headers["Content-Type"] = kind
        if self.cookies:
            headers["Cookie"] = "; ".join(f"{name}={value}" for name, value in self.cookies.items())
            headers["X-CSRFToken"] = self.cookies.get("csrftoken", "")
        try:
            self._http.request(method, path, body or None, headers)
            response = self._http.getresponse()
            text = response.read()
        except (OSError, http.client.HTTPException) as error:
            self._http.close()
            raise Failed(f"{method} {path}: {error!r}") from None
        self._used = time.monotonic()
        for cookie in response.headers.get_all("Set-Cookie") or []:
            name, _, value = cookie.partition(";")[0].partition("=")
            self.cookies[name] = value
        if response.status >= 400:
            raise Failed(f"{method} {path}: HTTP {response.status} {text[:120]!r}")
        return text

    def sign_in(self, path: str, **fields: str) -> None:
        """By the form of a page, with the token against forgery that it carries."""
        token = hidden(self.get(path), "csrfmiddlewaretoken")
        self.form(path, {**fields, "csrfmiddlewaretoken": token})
        if "sessionid" not in self.cookies:
            raise Failed(f"{path}: nobody was signed in")


def hidden(page: bytes, name: str) -> str:
    """The value of a hidden field."""
    for field in re.findall(rb"<input[^>]*>", page):
        if re.search(rb'name="%s"' % name.encode(), field):
            value = re.search(rb'value="([^"]*)"', field)
            return value.group(1).decode() if value else ""
    raise Failed(f"the page has no field {name}")


def answers(port: int, path: str) -> bool:
    try:
        Client(port).get(path)
    except Failed:
        return False
    return True
