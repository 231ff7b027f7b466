"""What a conversation is, told by its words: a copy is known by its text, not by its name.

A fingerprint is a sample of the hashes of all runs of five words. Speakers, roles, times, ids,
punctuation, case and where one message ends do not count. Two conversations are the same when
they share enough of the smaller one, so the first 400 of 680 messages are the same conversation,
and so is the same chat with a message added.

Labeling and pipelines both ask this module: labels need it for splits, training for what
weights have read, and both must get the same answer. It must import nothing of ours.
"""

from __future__ import annotations

import base64
import hashlib
import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

VERSION = 1
"""Raise it when the same words may give other values, and compute everything stored again."""
WORDS = 5
ALL_UP_TO = 256
"""Of a conversation with no more values all are kept, of a longer one a half, a quarter, …"""
LEAST_DENSITY = 3
"""… but never less than one in 2³, so that short excerpts of long chats are recognized."""
SAME_SHARE = 0.3
"""Of the smaller conversation. ``templates/docs/data-flow.md`` says what this rests on."""
LEAST_SHARED_RUNS = 12
"""Estimated. Two people may say one long sentence alike: that says nothing about the rest."""
LEAST_SHARED_VALUES = 4
KEY_VALUES = 8
KEY_BITS = 27
ASKED_VALUES = 32
KEPT_WORDS = 1 << 16
HASH_BYTES = 8

Words32 = NDArray[np.uint32]

# Scripts that put no blank between words: pairs of characters stand in for words.
_UNSPACED = (
    "\u0e00-\u0fff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
    "\U00020000-\U0003ffff"
)
_WORD = re.compile(f"[{_UNSPACED}]+|(?:(?![_{_UNSPACED}])\\w)+")
_LETTERS = bytes(
    ord(chr(byte).lower()) if byte < 128 and chr(byte).isalnum() else ord(" ")
    for byte in range(256)
)
_is_unspaced = re.compile(f"[{_UNSPACED}]").match
_BELOW_KEYS = np.uint32(1 << KEY_BITS)  # of the type of the values, or each would be converted
_FACTOR = np.uint64(0x9E3779B97F4A7C15)


class Overlap(NamedTuple):
    """``share`` is of the smaller of the two conversations; ``runs`` is how many words in a row."""

    share: float
    runs: int


@dataclass(frozen=True, slots=True, eq=False)
class Fingerprint:
    """``values`` are sorted, and below 2^(32 - ``density``): all there are in that range.

    A conversation of fewer than 16 words has none: what so few words say, many people say.
    """

    density: int
    values: Words32

    def __bool__(self) -> bool:
        return len(self.values) > 0

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Fingerprint) and bytes(self) == bytes(other)

    def __hash__(self) -> int:
        return hash(bytes(self))

    def __bytes__(self) -> bytes:
        return bytes((VERSION, self.density)) + self.values.astype("<u4").tobytes()

    @classmethod
    def from_bytes(cls, stored: bytes) -> Fingerprint:
        """Raises ValueError if it was computed by other rules."""
        if len(stored) % 4 != 2 or stored[0] != VERSION or stored[1] > LEAST_DENSITY:
            raise ValueError(f"not a fingerprint of version {VERSION}")
        return cls(stored[1], np.frombuffer(stored, "<u4", offset=2).astype(np.uint32))

    def as_text(self) -> str:
        return base64.b64encode(bytes(self)).decode("ascii")

    @classmethod
    def from_text(cls, text: str) -> Fingerprint:
        return cls.from_bytes(base64.b64decode(text, validate=True))

    @property
    def keys(self) -> Words32:
        """The lowest values: what an index of many conversations holds of this one."""
        return self._lowest(KEY_VALUES)

    @property
    def asked(self) -> Words32:
        """The values to ask such an index for: some are among the keys of any same conversation."""
        return self._lowest(ASKED_VALUES)

    def _lowest(self, least: int) -> Words32:
        below = int(self.values.searchsorted(_BELOW_KEYS))
        return self.values[: max(least, below)]


def fingerprint(texts: Iterable[str]) -> Fingerprint:
    """The fingerprint of a conversation, from the contents of its messages in order.

    Examples
    --------
    >>> talk = ["We need a shop for plants.", "Who may order, and how would they like to pay?",
    ...         "Everybody who has an account; by card, please."]
    >>> copy = [" we need a shop for plants", "Who may order?", "And how would they like to pay?",
    ...         "Everybody who has an account; by card, please!"]
    >>> fingerprint(talk) == fingerprint(copy)
    True
    >>> bool(fingerprint(["Hello", "Hello, how may I help you?"]))
    False
    """
    hashed = b"".join(map(_HASHES.__getitem__, _words("\n".join(texts))))
    words = np.frombuffer(hashed, ">u8").astype(np.uint64)
    total = max(len(words) - WORDS + 1, 0)
    mixed = np.zeros(total, np.uint64)
    for start in range(WORDS):
        mixed = (mixed ^ words[start : start + total]) * _FACTOR
        mixed ^= mixed >> np.uint64(29)
    ordered = np.sort((mixed >> np.uint64(32)).astype(np.uint32))
    is_first = np.ones(total, bool)
    is_first[1:] = ordered[1:] != ordered[:-1]
    runs = ordered[is_first]
    if len(runs) < LEAST_SHARED_RUNS:
        return Fingerprint(0, runs[:0])
    density, number = 0, len(runs)
    while density < LEAST_DENSITY and number > ALL_UP_TO:
        density += 1
        number = _number_below(runs, density)
    return Fingerprint(density, runs[:number])


def _number_below(values: Words32, density: int) -> int:
    """How many of the sorted values a sample of this density keeps."""
    return int(values.searchsorted(np.uint32(1 << (32 - density)))) if density else len(values)


def overlap(one: Fingerprint, other: Fingerprint) -> Overlap:
    """What two conversations share, estimated from the range that both samples cover.

    Examples
    --------
    >>> short = fingerprint([f"word{n}" for n in range(100)])
    >>> long = fingerprint([f"word{n}" for n in range(60, 300)])
    >>> share, runs = overlap(short, long)
    >>> round(share, 2), runs
    (0.38, 36)
    """
    density = max(one.density, other.density)
    left, right = _below(one, density), _below(other, density)
    shared = len(np.intersect1d(left, right, assume_unique=True))
    smaller = min(len(left), len(right))
    return Overlap(shared / smaller if smaller else 0.0, shared << density)


def is_same(one: Fingerprint, other: Fingerprint) -> bool:
    """Whether they are one conversation, or one is a part of the other."""
    share, runs = overlap(one, other)
    least = LEAST_SHARED_VALUES << max(one.density, other.density)
    return share >= SAME_SHARE and runs >= max(LEAST_SHARED_RUNS, least)


def _below(sketch: Fingerprint, density: int) -> Words32:
    return sketch.values[: _number_below(sketch.values, density)]


def _words(text: str) -> list[bytes]:
    if text.isascii():
        return text.encode().translate(_LETTERS).split()
    words: list[str] = []
    for run in _WORD.findall(unicodedata.normalize("NFKC", text).casefold()):
        if _is_unspaced(run) and len(run) > 1:
            words += (run[start : start + 2] for start in range(len(run) - 1))
        else:
            words.append(run)
    return [word.encode("utf-8", "replace") for word in words]


class _Hashes(dict[bytes, bytes]):
    """The hash of each word, computed once; of the most recent ones, so that it stays small."""

    def __missing__(self, word: bytes) -> bytes:
        if len(self) >= KEPT_WORDS:
            self.clear()
        self[word] = value = hashlib.blake2b(word, digest_size=HASH_BYTES).digest()
        return value


_HASHES = _Hashes()
