"""The key of a conversation, and the set of weights that has not read it."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path

from pipelines import trained_on
from pipelines.types import Message

SIZE = 8
"""How many of those asked about last are kept at hand."""


def key_of(messages: Sequence[Message]) -> str:
    """Of speaker, time and words of all messages: equal keys, equal results.

    Whether weights have read a conversation is asked of its words alone (:func:`left_out`).
    """
    lines = (f"{line.speaker}\0{line.time or ''}\0{line.content}\1" for line in messages)
    return hashlib.sha256("".join(lines).encode("utf-8", "replace")).hexdigest()


def left_out(weights: Path, messages: Sequence[Message]) -> str:
    """The set of weights fitted without this conversation and its people; empty if it was not read.

    By its words: a copy with a blank more, with other names of speakers, or the first half is it.
    """
    return trained_on.left_out(weights, [message.content for message in messages])
