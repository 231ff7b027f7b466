"""Sentences that people read, written in a pure place and translated by whoever shows them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache, lru_cache
from typing import Any

PLACE = re.compile(r"\{(\w+)\}")
DEEP = 4  # sentences within sentences, and
JOINED = 8  # in a row: a text from outside may look like any number of them,
LONGEST = 2500  # and be of any length


class Sentence(str):
    """English text that remembers its pattern and values, so that a screen can translate it.

    It is the finished English text for everybody else: JSON, logs, the command line.
    """

    pattern: str
    values: dict[str, Any]

    def as_json(self) -> dict[str, Any]:
        """What ``retold`` makes the sentence of again; values are sentences, texts or numbers."""
        values = {
            name: value.as_json() if isinstance(value, Sentence) else value
            for name, value in self.values.items()
        }
        return {"pattern": self.pattern, "values": values}


def say(pattern: str, **values: Any) -> Sentence:
    """``say("Round {number} is open.", number=3)``; catalogues hold the pattern.

    A fraction is given as a number, so that a screen can write it as its reader does.
    """
    told = {name: f"{one:.12g}" if type(one) is float else one for name, one in values.items()}
    sentence = Sentence(pattern.format(**told))
    sentence.pattern = pattern
    sentence.values = values
    return sentence


def retold(stored: Mapping[str, Any]) -> Sentence:
    """The sentence that was stored by ``as_json``."""
    values = {
        name: retold(value) if isinstance(value, Mapping) else value
        for name, value in stored["values"].items()
    }
    return say(stored["pattern"], **values)


def noted(text: str) -> str:
    """The text itself: marks it for the catalogues where it is written."""
    return text


def recognised(text: str, patterns: tuple[str, ...]) -> str:
    """The sentence that was stored as this English text, by the first pattern that makes it.

    A value may be such a sentence again; what came from outside stays the text that it is.

    Examples
    --------
    >>> recognised("Round 3 is open.", ("Round {number} is open.",)).values
    {'number': '3'}
    >>> recognised("Ruin 3", ("Round {number} is open.",))
    'Ruin 3'
    """
    return _joined(text, patterns, DEEP) if len(text) <= LONGEST else text


@cache
def most_literal_first(patterns: tuple[str, ...]) -> tuple[str, ...]:
    """The order for ``recognised``: what says more itself is the better guess."""
    return tuple(sorted(set(patterns), key=lambda one: (-len(PLACE.sub("", one)), one)))


@lru_cache(maxsize=4096)  # the parts of a text are looked at again and again
def _joined(text: str, patterns: tuple[str, ...], depth: int) -> str:
    """Sentences joined by semicolons, which may hold semicolons themselves, or a single one."""
    parts = text.split("; ")
    for end in range(1, len(parts) if len(parts) <= JOINED else 0):
        first = _one("; ".join(parts[:end]), patterns, depth)
        if isinstance(first, Sentence):
            more = _joined("; ".join(parts[end:]), patterns, depth)
            if isinstance(more, Sentence):
                return say("{first}; {more}", first=first, more=more)
    return _one(text, patterns, depth)


def _one(text: str, patterns: tuple[str, ...], depth: int) -> str:
    for pattern in patterns if depth else ():
        found = _shape(pattern).fullmatch(text)
        if found:
            told = {
                name: _joined(one, patterns, depth - 1) for name, one in found.groupdict().items()
            }
            return say(pattern, **told)
    return text


@cache
def _shape(pattern: str) -> re.Pattern[str]:
    shaped, seen = "", set()
    for at, piece in enumerate(PLACE.split(pattern)):  # text and name by turns
        named = f"(?P={piece})" if piece in seen else f"(?P<{piece}>.+?)"
        shaped += named if at % 2 else re.escape(piece)
        seen |= {piece} if at % 2 else set()
    return re.compile(shaped, re.DOTALL)
