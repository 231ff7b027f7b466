"""Keys never leave the process inside a text."""

from __future__ import annotations

import re
from collections.abc import Iterable

HIDDEN = "[key]"
LIKE_A_KEY = re.compile(r"\bsk-[\w*-]{6,}|(?<=Bearer )[\w.~+/=*-]{6,}")
IN_ADDRESS = re.compile(r"(?<=://)[^/\s:@]*:[^/\s@]+(?=@)")
SHORTEST = 4  # a shorter "key" is a placeholder, and hiding it would break words


def redacted(text: str, secrets: Iterable[str] = ()) -> str:
    """The text without these secrets, and without anything that looks like one.

    Examples
    --------
    >>> redacted("Incorrect key: sk-abcd****wxyz (http://me:pw12@host/)", ["wxyz-123"])
    'Incorrect key: [key] (http://[key]@host/)'
    """
    for secret in secrets:
        text = without(text, secret)
    return IN_ADDRESS.sub(HIDDEN, LIKE_A_KEY.sub(HIDDEN, text))


def without(text: str, secret: str) -> str:
    """The text without this secret and otherwise unchanged: for a model's reply."""
    return text.replace(secret, HIDDEN) if len(secret) >= SHORTEST else text
