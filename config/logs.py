"""The format of log lines, and what they must never contain."""

import logging
import re
from typing import Any

from config.env import env_secret
from pipelines.chat.redaction import HIDDEN, redacted

# invitations, links for a new password and for an address, tokens for programs, secrets of webhooks
OF_OURS = re.compile(
    r"(?<=/join/)[\w-]+|(?<=/password/)[\w-]+/[\w-]{20,}|(?<=/account/mail/)[\w:-]{20,}"
    r"|\bassay_[\w-]{20,}|\bwhsec_[\w+/=-]{20,}"
)


class KeylessFormatter(logging.Formatter):
    """Takes keys out of the finished line, so also out of tracebacks and of others' messages."""

    def __init__(self, format: str, **options: Any) -> None:
        super().__init__(format, **options)
        self._secrets = [env_secret(name) or "" for name in ("LLM_API_KEY", "JUDGE_API_KEY")]

    def format(self, record: logging.LogRecord) -> str:
        return OF_OURS.sub(HIDDEN, redacted(super().format(record), self._secrets))
