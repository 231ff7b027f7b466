"""Work that one process does at a time, whatever becomes of it.

Nobody waits: who finds somebody else at it leaves it to them. The system frees what a process held
that has ended. On PostgreSQL the server keeps it, for workers of all machines; SQLite is for one
machine, so there it is a file.
"""

from __future__ import annotations

import fcntl
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from hashlib import blake2b

from django.conf import settings
from django.db import DatabaseError, connection

from config import private_files


@contextmanager
def alone(name: str) -> Iterator[bool]:
    """False: somebody else is at it."""
    with _of_server(name) if connection.vendor == "postgresql" else _of_machine(name) as mine:
        yield mine


@contextmanager
def _of_server(name: str) -> Iterator[bool]:
    """It belongs to the connection of this thread; where that was lost, so was this."""
    key = int.from_bytes(blake2b(name.encode(), digest_size=8).digest(), signed=True)
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_try_advisory_lock(%s)", [key])
        (mine,) = cursor.fetchone()
    try:
        yield mine
    finally:
        if mine:
            with suppress(DatabaseError), connection.cursor() as cursor:
                cursor.execute("SELECT pg_advisory_unlock(%s)", [key])


@contextmanager
def _of_machine(name: str) -> Iterator[bool]:
    folder = settings.DATA_DIR / "locks"
    private_files.make_folder(folder)
    of = f"{connection.settings_dict['NAME']} {name}"  # databases may share a folder
    digest = blake2b(of.encode(), digest_size=16).hexdigest()
    with (folder / digest).open("wb") as file:  # frees it when it is closed
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            yield False
            return
        yield True
