"""One POST to an address that somebody typed in: to the open internet, for a short time, once.

The name is looked up once, what it leads to is checked, and that very address is connected to: a
name that leads somewhere else a moment later changes nothing. No redirect is followed, no proxy is
asked, and of the answer only the status is read.
"""

from __future__ import annotations

import socket
import ssl
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from ipaddress import ip_address
from threading import Timer
from time import monotonic
from typing import Any, NamedTuple
from urllib.parse import SplitResult, urlsplit

from labeling.models import WebhookDelivery
from labeling.operation.rules.webhooks import is_public

LIMIT_SECONDS = 10.0
"""For everything after the name lookup, so that a server that drips bytes is cut off, too."""

Outcome = WebhookDelivery.Outcome


class Response(NamedTuple):
    outcome: str
    status: int | None = None


class PrivateAddress(OSError):
    """The name leads, or leads also, into a network that is not public."""


def post(
    url: str,
    body: bytes,
    headers: Mapping[str, str],
    *,
    allow_private: bool,
    seconds: float = LIMIT_SECONDS,
) -> Response:
    """Send it and return the outcome. Errors of the receiver or the network do not raise."""
    end = monotonic() + seconds
    try:
        return _judged(_status(urlsplit(url), body, headers, allow_private, end))
    except PrivateAddress:
        return Response(Outcome.PRIVATE)
    except (socket.gaierror, UnicodeError):
        return Response(Outcome.UNKNOWN_HOST)
    except ssl.SSLCertVerificationError:
        return Response(Outcome.INSECURE)
    except (OSError, HTTPException):
        return Response(Outcome.TIMEOUT if monotonic() >= end else Outcome.UNREACHABLE)


def _judged(status: int) -> Response:
    if 200 <= status < 300:
        return Response(Outcome.TAKEN, status)
    return Response(Outcome.REDIRECT if 300 <= status < 400 else Outcome.REFUSED, status)


def _status(
    parts: SplitResult, body: bytes, headers: Mapping[str, str], allow_private: bool, end: float
) -> int:
    host, secure = parts.hostname or "", parts.scheme == "https"
    port = parts.port or (443 if secure else 80)
    places = _places(host, port, allow_private=allow_private)
    http = HTTPSConnection(host, port) if secure else HTTPConnection(host, port)
    http.sock = _in_tls(_connected(places, end), host) if secure else _connected(places, end)
    with _cut_off(http.sock, end):
        if isinstance(http.sock, ssl.SSLSocket):
            http.sock.do_handshake()
        target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        http.request("POST", target, body=body, headers=dict(headers))
        status = http.getresponse().status
        if monotonic() >= end:  # an answer that was cut off here looks whole
            raise TimeoutError
        return status


def _places(host: str, port: int, *, allow_private: bool) -> list[tuple[int, Any]]:
    """Where a name leads: family and socket address, all of them checked."""
    addresses = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    places: list[tuple[int, Any]] = [(family, at) for family, _type, _proto, _name, at in addresses]
    if not allow_private and not all(is_public(ip_address(at[0])) for _family, at in places):
        raise PrivateAddress
    return places


def _connected(places: list[tuple[int, Any]], end: float) -> socket.socket:
    """The first that answers; a machine may have no way to some of them."""
    *others, last = places
    for place in others:
        with suppress(OSError):
            return _connect(*place, end)
    return _connect(*last, end)


def _connect(family: int, address: Any, end: float) -> socket.socket:
    sock = socket.socket(family, socket.SOCK_STREAM)
    try:
        sock.settimeout(max(0.01, end - monotonic()))
        sock.connect(address)
    except OSError:
        sock.close()
        raise
    return sock


def _in_tls(sock: socket.socket, host: str) -> ssl.SSLSocket:
    """Not greeted yet: the greeting, too, is limited in time."""
    context = ssl.create_default_context()
    return context.wrap_socket(sock, server_hostname=host, do_handshake_on_connect=False)


@contextmanager
def _cut_off(sock: socket.socket, end: float) -> Iterator[None]:
    """End the connection when the time is over; a socket's own limit starts again at each byte."""
    timer = Timer(max(0.01, end - monotonic()), _hang_up, [sock])
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        timer.join()  # or it might hang up on a later socket of the same number
        sock.close()


def _hang_up(sock: socket.socket) -> None:
    with suppress(OSError):  # closed already
        socket.socket.shutdown(sock, socket.SHUT_RDWR)  # TLS must not wait to say good-bye
