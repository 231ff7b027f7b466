"""The format of log lines, and what they must never contain.

Web server, worker and supervisor write the same: a time in one zone, level, logger, process and
message. What a message quotes cannot begin a line by itself.
"""

import logging
import re
from contextvars import ContextVar
from datetime import datetime
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from django.core.exceptions import ImproperlyConfigured

from config import language_models
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
