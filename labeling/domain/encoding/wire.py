"""What is said between the encoder's process and those who ask it.

A frame is the length of a JSON text, the length of what follows it, the text, and raw float32 rows.
"""

from __future__ import annotations

import json
import os
import socket
import struct
from typing import Literal, NotRequired, TypedDict, cast

import numpy as np

from labeling.domain.encoding.network import DIMENSIONS, Vectors

LENGTHS = struct.Struct("<IQ")
MOST_BYTES = 1 << 30
CREDENTIALS = struct.Struct("3i")  # process, user, group

What = Literal["sentences", "both", "alive"]


class Request(TypedDict):
    what: What
    folder: str
    key: str
    short: bool
    """Whether the network multiplies in bfloat16."""
    light: NotRequired[bool]
    """Whether it is the one without torch."""
    texts: list[str]
    changes: list[tuple[str, tuple[int, ...], tuple[int, ...]]]
    """Name and the two shapes of each change whose numbers follow."""


class Answer(TypedDict, total=False):
    pieces: list[list[str]]
    """Of ``both``: after the row of each text there are those of its pieces."""
    silent: float
    """Of ``alive``: seconds since a request was answered."""
    unknown: bool
    """The process has not got the changes yet."""
    error: str


def ask(connection: socket.socket, request: Request, raw: bytes = b"") -> tuple[Answer, Vectors]:
    send(connection, request, raw)
    answer, rows = receive(connection)
    vectors = np.frombuffer(rows, dtype="<f4").reshape(-1, DIMENSIONS)
    return cast(Answer, answer), vectors


def send(connection: socket.socket, said: Request | Answer, raw: bytes = b"") -> None:
    text = json.dumps(said).encode()
    connection.sendall(LENGTHS.pack(len(text), len(raw)) + text)
    if raw:
        connection.sendall(raw)


def receive(connection: socket.socket) -> tuple[object, bytes]:
    """Raises ``EOFError`` at the end, also in the middle of a frame."""
    text, raw = LENGTHS.unpack(_exactly(connection, LENGTHS.size))
    if text + raw > MOST_BYTES:
        raise EOFError("a frame of another kind")
    return json.loads(_exactly(connection, text)), _exactly(connection, raw)


def _exactly(connection: socket.socket, size: int) -> bytes:
    rows = bytearray(size)
    rest = memoryview(rows)
    while rest:
        count = connection.recv_into(rest)
        if not count:
            raise EOFError("the connection was closed")
        rest = rest[count:]
    return bytes(rows)


def peer(connection: socket.socket) -> int:
    """The process at the other end."""
    return _credentials(connection)[0]


def is_same_user(connection: socket.socket) -> bool:
    """True as well where the system doesn't say; the folder is private anyway."""
    if not hasattr(socket, "SO_PEERCRED"):
        return True
    return _credentials(connection)[1] == os.getuid()


def _credentials(connection: socket.socket) -> tuple[int, int, int]:
    raw = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, CREDENTIALS.size)
    process, user, group = CREDENTIALS.unpack(raw)
    return process, user, group
