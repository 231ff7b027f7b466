"""What is missing when a request fails: the database, or room on the disk."""

from __future__ import annotations

import errno
import shutil
from collections.abc import Iterator

from django.conf import settings
from django.db import InterfaceError, OperationalError

NO_DATABASE, DISK_FULL = "database_away", "disk_full"
CLOSED = {errno.EROFS, errno.EACCES, errno.EPERM}
FULL = {errno.ENOSPC, errno.EDQUOT}
NEARLY_NOTHING = 1024 * 1024  # bytes


def missing(error: BaseException | None) -> str | None:
    """``NO_DATABASE`` or ``DISK_FULL``; None for everything else, which is a fault of ours."""
    errors = list(_causes(error))
    if any(_is_full(each) for each in errors):
        return DISK_FULL
    if any(_is_away(each) for each in errors):
        return NO_DATABASE
    return None


def is_read_only(error: BaseException) -> bool:
    """Nobody may write to a folder or a database."""
    return any(
        (isinstance(each, OSError) and each.errno in CLOSED)
        or str(getattr(each, "sqlite_errorname", "")).startswith(
            ("SQLITE_READONLY", "SQLITE_CANTOPEN")
        )
        for each in _causes(error)
    )


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        yield error
        error = error.__cause__ or error.__context__


def _is_full(error: BaseException) -> bool:
    if isinstance(error, OSError) and error.errno in FULL:
        return True
    name = str(getattr(error, "sqlite_errorname", ""))
    if name.startswith("SQLITE_IOERR"):  # its index of the log in memory cannot grow
        return shutil.disk_usage(settings.DATA_DIR).free < NEARLY_NOTHING
    return name == "SQLITE_FULL" or getattr(error, "sqlstate", None) == "53100"


def _is_away(error: BaseException) -> bool:
    """SQLite calls a wrong statement operational, too: that is a fault of ours."""
    if not isinstance(error, (OperationalError, InterfaceError)):
        return False
    cause = error.__cause__
    return getattr(cause, "sqlite_errorname", "") != "SQLITE_ERROR"
