"""The format of log lines, and what they must never contain.

Web server, worker and supervisor write the same: a time in one zone, level, logger, process and
message. What a message quotes cannot begin a line by itself.
"""

import logging
import os
import re
import sys
from contextvars import ContextVar
from datetime import datetime
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from django.core.exceptions import ImproperlyConfigured

from config import language_models, private_files
from config.env import env_str
from pipelines.chat.redaction import HIDDEN, redacted

# invitations, links for a new password, tokens for programs, secrets of webhooks
OF_OURS = re.compile(
    r"(?<=/join/)[\w-]+|(?<=/password/)[\w-]+/[\w-]{20,}"
    r"|\bassay_[\w-]{20,}|\bwhsec_[\w+/=-]{20,}"
)
CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")
LINE = "%(asctime)s %(levelname)s %(name)s %(process)d%(request)s: %(message)s"
LOG_BYTES = 10 * 1024 * 1024
ASIDE = "ASSAY_LOG_ASIDE"
"""Set by a command for itself and the processes that it starts."""

request_id: ContextVar[str] = ContextVar("request_id", default="")
"""Of the request that this thread is at."""


class KeylessFormatter(logging.Formatter):
    """Takes keys out of the finished line, so also out of tracebacks and of others' messages."""

    def __init__(self, format: str = LINE, **options: Any) -> None:
        super().__init__(format, **options)
        self._secrets = language_models.keys()
        self._zone = _zone()

    def format(self, record: logging.LogRecord) -> str:
        return self._keyless(super().format(record))

    def formatTime(self, record: logging.LogRecord, datefmt: str | None = None) -> str:
        time = datetime.fromtimestamp(record.created, self._zone)
        return time.isoformat(timespec="milliseconds")

    def formatMessage(self, record: logging.LogRecord) -> str:
        record.message = CONTROL.sub(_escaped, record.message)
        own = getattr(record, "request_id", "") or request_id.get()
        record.request = f" {own}" if own else ""
        return super().formatMessage(record)

    def _keyless(self, text: str) -> str:
        return OF_OURS.sub(HIDDEN, redacted(text, self._secrets))


class Log(logging.StreamHandler[Any]):
    """To the standard error of servers; to a file where commands print what they found out."""

    def __init__(self, file: Path) -> None:
        super().__init__()
        self._file, self._is_aside = file, False

    def emit(self, record: logging.LogRecord) -> None:
        if os.environ.get(ASIDE) and not self._is_aside:
            self._turn_aside()
        super().emit(record)

    def close(self) -> None:
        if self._is_aside:
            self.stream.close()
        super().close()

    def handleError(self, record: logging.LogRecord) -> None:
        """A disk that is full: the command itself says so."""
        if not isinstance(sys.exc_info()[1], OSError):
            super().handleError(record)

    def _turn_aside(self) -> None:
        try:
            private_files.make_folder(self._file.parent)
            rotate(self._file)
            self.setStream(self._file.open("a", encoding="utf-8", buffering=1))
            self._is_aside = True
        except OSError:  # better among the results than nowhere
            del os.environ[ASIDE]


def rotate(log: Path) -> None:
    if log.exists() and log.stat().st_size > LOG_BYTES:
        log.replace(log.with_suffix(".log.1"))


class BriefOutages(logging.Filter):
    """An outage is a line for each request; a traceback is for faults of ours."""

    def filter(self, record: logging.LogRecord) -> bool:
        from labeling.jobs import failures  # not before the settings, which import this

        error = record.exc_info[1] if record.exc_info else None
        if error is not None and failures.missing(error):
            record.msg, record.args = "%s: %s", (record.getMessage(), error)
            record.exc_info = None
        return True


def _zone() -> ZoneInfo:
    name = env_str("ASSAY_TIME_ZONE", "UTC")
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError):
        raise ImproperlyConfigured(
            f"ASSAY_TIME_ZONE is {name!r}: set it to a zone such as Europe/Berlin."
        ) from None


def _escaped(control: re.Match[str]) -> str:
    return control[0].encode("unicode_escape").decode("ascii")
