"""Which conversation this is, told by what is said in it."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

from pipelines.types import Message


def key_of(messages: Sequence[Message]) -> str:
    """Of speaker, time and words of all messages: the same talk has the same key everywhere."""
    said = "".join(f"{one.speaker}\0{one.time or ''}\0{one.content}\1" for one in messages)
    return hashlib.sha256(said.encode("utf-8", "replace")).hexdigest()
