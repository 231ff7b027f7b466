"""What tests need that start other programs on their database."""

from __future__ import annotations

import secrets
import socket
from contextlib import suppress
from urllib.parse import quote, urlencode

from django.db import connection


def database_url(name: str = "") -> str:
    """The address of the test database, or of another on the same server, for other processes."""
    name = name or connection.settings_dict["NAME"]
    if connection.vendor == "sqlite":
        return f"sqlite:///{name}"
    known = connection.get_connection_params()
    place = urlencode({key: known[key] for key in ("host", "port") if known.get(key)})
    person = ":".join(quote(known[key], safe="") for key in ("user", "password") if known.get(key))
    return f"postgres://{person}@/{name}?{place}"


def free_port() -> int:
    """One that the kernel gives to nobody who asks for any, so that it stays free until used."""
    while True:
        port = 20_000 + secrets.randbelow(10_000)
        with socket.socket() as probe, suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return port
