"""Work that one process does at a time, whatever becomes of it.

Nobody waits: who finds somebody else at it leaves it to them. The system frees what a process held
that has ended. On PostgreSQL the server keeps it, for workers of all machines; SQLite is for one
machine, so there it is a file.
"""

from __future__ import annotations

import fcntl
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from hashlib import blake2b
from pathlib import Path

from django.conf import settings
from django.db import DatabaseError, connection

from config import private_files


@contextmanager
def alone(name: str) -> Iterator[bool]:
    """False: somebody else is at it."""
    with _of_server(name) if connection.vendor == "postgresql" else _of_machine(name) as mine:
        yield mine


def taken_of(names: Sequence[str]) -> set[str]:
    """Those of the names that somebody is at now."""
    if connection.vendor == "postgresql":
        return _taken_of_server(names)
    return {name for name in names if _is_taken_of_machine(name)}


@contextmanager
def _of_server(name: str) -> Iterator[bool]:
    """It belongs to the connection of this thread; where that was lost, so was this."""
    key = _key(name)
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_try_advisory_lock(%s)", [key])
        (mine,) = cursor.fetchone()
    try:
        yield mine
    finally:
        if mine:
            with suppress(DatabaseError), connection.cursor() as cursor:
                cursor.execute("SELECT pg_advisory_unlock(%s)", [key])


def _taken_of_server(names: Sequence[str]) -> set[str]:
    by_key = {_key(name): name for name in names}
    if not by_key:
        return set()
    with connection.cursor() as cursor:
        cursor.execute(_TAKEN, [list(by_key)])
        return {by_key[key] for (key,) in cursor.fetchall()}


_TAKEN = """
WITH held AS (
    SELECT (classid::bigint << 32) | objid::bigint AS key FROM pg_locks
    WHERE locktype = 'advisory' AND objsubid = 1 AND granted
    AND database = (SELECT oid FROM pg_database WHERE datname = current_database()))
SELECT key FROM held WHERE key = ANY(%s)
"""


def _key(name: str) -> int:
    return int.from_bytes(blake2b(name.encode(), digest_size=8).digest(), signed=True)


@contextmanager
def _of_machine(name: str) -> Iterator[bool]:
    with _file_of(name).open("wb") as file:  # frees it when it is closed
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            yield False
            return
        yield True


def _is_taken_of_machine(name: str) -> bool:
    """Who takes it in this very moment leaves it to nobody: the sweep asks again."""
    path = _file_of(name)
    if not path.exists():
        return False
    with path.open("rb") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        return False


def _file_of(name: str) -> Path:
    folder = settings.DATA_DIR / "locks"
    private_files.make_folder(folder)
    of = f"{connection.settings_dict['NAME']} {name}"  # databases may share a folder
    return folder / blake2b(of.encode(), digest_size=16).hexdigest()
