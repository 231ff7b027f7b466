"""What weights have read: the fingerprints of their training conversations, in a file next to them.

A conversation is *seen* if it is the same as one of these (:mod:`labeling.domain.fingerprints`),
*left out* if the weights have a second set that was fitted without it and is used for it, and
otherwise *unseen*.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
from functools import cache, lru_cache
from pathlib import Path
from typing import NamedTuple, TypedDict

from labeling.domain import fingerprints
from labeling.domain.fingerprints import Fingerprint, fingerprint, is_same

SOURCES = (Path(__file__), Path(fingerprints.__file__))
"""What an answer depends on, besides a pipeline's own files: which weights are used."""


class Exposure(StrEnum):
    SEEN = "seen"
    LEFT_OUT = "left_out"
    UNSEEN = "unseen"


class Stored(TypedDict):
    """The file. ``leaves_out``: for each conversation there are weights fitted without it, in the
    set that its key names before the slash."""

    leaves_out: bool
    conversations: dict[str, str]


class _Read(NamedTuple):
    leaves_out: bool
    conversations: Mapping[str, Fingerprint]


def beside(weights: Path) -> Path:
    """The file of the conversations that these weights have read."""
    return weights.with_name(f"{weights.stem}.trained_on.json")


def matches(weights: Path, texts: Sequence[str]) -> tuple[str, ...]:
    """The keys of the training conversations that these messages are, or are a part of."""
    return _matches(weights, tuple(texts))


def left_out(weights: Path, texts: Sequence[str]) -> str:
    """The set of the weights to use for a conversation; empty: those of all conversations.

    That is so as well for one that several sets leave out: each of them has read a part.
    """
    keys = matches(weights, texts) if _read(weights).leaves_out else ()
    sets = {key.partition("/")[0] for key in keys}
    return sets.pop() if len(sets) == 1 else ""


def exposure(all_weights: Iterable[Path], texts: Sequence[str]) -> Exposure:
    """Of a conversation, to all the weights that a pipeline uses for it."""
    met = [(matches(weights, texts), left_out(weights, texts)) for weights in all_weights]
    if any(has_read and not is_left_out for has_read, is_left_out in met):
        return Exposure.SEEN
    return Exposure.LEFT_OUT if any(has_read for has_read, _ in met) else Exposure.UNSEEN


def write(weights: Path, talks: Mapping[str, Sequence[str]], *, leaves_out: bool) -> None:
    """``talks`` are the contents of the messages, by the key of each training conversation."""
    prints = {key: fingerprint(texts).as_text() for key, texts in talks.items()}
    stored: Stored = {"leaves_out": leaves_out, "conversations": prints}
    text = json.dumps(stored, indent=1, sort_keys=True)
    beside(weights).write_text(text + "\n", encoding="utf-8")
    _read.cache_clear()
    _matches.cache_clear()


def keys(weights: Path) -> frozenset[str]:
    return frozenset(_read(weights).conversations)


@cache
def _read(weights: Path) -> _Read:
    stored: Stored = json.loads(beside(weights).read_text(encoding="utf-8"))
    prints = {key: Fingerprint.from_text(text) for key, text in stored["conversations"].items()}
    return _Read(stored["leaves_out"], prints)


@lru_cache(maxsize=256)
def _matches(weights: Path, texts: tuple[str, ...]) -> tuple[str, ...]:
    talk = fingerprint(texts)
    return tuple(key for key, other in _read(weights).conversations.items() if is_same(talk, other))
