"""Versions by meaning: what a change of a release asks of those who use it.

Corrected labels raise the last number, other items the middle one, and a new schema or new
guidelines the first: labels of before and after then no longer mean the same.
"""

from __future__ import annotations

import re
from typing import Literal, NamedTuple, Self

Level = Literal["patch", "minor", "major"]

_WRITTEN = re.compile(r"(0|[1-9]\d{0,8})\.(0|[1-9]\d{0,8})\.(0|[1-9]\d{0,8})", re.ASCII)


class Meaning(NamedTuple):
    """A version like 1.2.0.

    Examples
    --------
    >>> str(Meaning.parse("1.2.3").raised("minor"))
    '1.3.0'
    >>> Meaning.parse("1.02.3") is None
    True
    """

    major: int
    minor: int
    patch: int

    @classmethod
    def parse(cls, text: str) -> Self | None:
        numbers = _WRITTEN.fullmatch(text)
        return cls(*map(int, numbers.groups())) if numbers else None

    def __str__(self) -> str:
        return f"{self.major}.{self.minor}.{self.patch}"

    def raised(self, level: Level) -> Meaning:
        match level:
            case "major":
                return Meaning(self.major + 1, 0, 0)
            case "minor":
                return Meaning(self.major, self.minor + 1, 0)
            case "patch":
                return Meaning(self.major, self.minor, self.patch + 1)


FIRST = Meaning(1, 0, 0)


def of_release(meaning: str, version: int) -> Meaning:
    """The meaning of a release; before there were any, each version counts as a major one.

    Examples
    --------
    >>> str(of_release("", 3)), str(of_release("3.1.0", 5))
    ('3.0.0', '3.1.0')
    """
    return Meaning.parse(meaning) or Meaning(version, 0, 0)


def same_words(first: str | None, second: str | None) -> bool:
    """Whether two texts differ in nothing but white space; no text equals only no text.

    Examples
    --------
    >>> same_words("Cite the  message.", "Cite the message.\\n"), same_words(None, "")
    (True, False)
    """
    if first is None or second is None:
        return first is second
    return first.split() == second.split()
