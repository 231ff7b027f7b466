"""Sentences that people read, written in a pure place and translated by whoever shows them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


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
    """``say("Round {number} is open.", number=3)``; catalogues hold the pattern."""
    sentence = Sentence(pattern.format(**values))
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
