"""Sentences that people read, written in a pure place and translated by whoever shows them."""

from __future__ import annotations

from typing import Any


class Sentence(str):
    """English text that remembers its pattern and values, so that a screen can translate it.

    It is the finished English text for everybody else: JSON, logs, the command line.
    """

    pattern: str
    values: dict[str, Any]


def say(pattern: str, **values: Any) -> Sentence:
    """``say("Round {number} is open.", number=3)``; catalogues hold the pattern.

    A fraction is given as a number, so that a screen can write it as its reader does.
    """
    told = {name: f"{one:.12g}" if type(one) is float else one for name, one in values.items()}
    sentence = Sentence(pattern.format(**told))
    sentence.pattern = pattern
    sentence.values = values
    return sentence


def noted(text: str) -> str:
    """The text itself: marks it for the catalogues where it is written."""
    return text
