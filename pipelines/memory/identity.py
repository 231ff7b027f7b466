"""Which conversation this is, told by what is said in it."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

from pipelines.types import Message


def key_of(messages: Sequence[Message]) -> str:
    """Of speaker, time and words of all messages: the same talk has the same key everywhere."""
    digest = hashlib.sha256()
    for message in messages:
        said = (message.speaker, message.time or "", message.content)
        digest.update("\0".join(said).encode("utf-8", "replace") + b"\1")
    return digest.hexdigest()
