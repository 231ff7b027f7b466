"""The word lists of ``words.yaml``, read once."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any

import yaml

FILE = Path(__file__).parent / "words.yaml"


@cache
def load() -> dict[str, Any]:
    # The base loader keeps every word a string: "no" is a word here, not a boolean.
    with FILE.open(encoding="utf-8") as lines:
        found: dict[str, Any] = yaml.load(lines, Loader=yaml.BaseLoader)  # noqa: S506 - strings only
    return found


@cache
def pattern(name: str) -> re.Pattern[str]:
    """Any of the words of a list, as words of their own."""
    return any_of(load()[name])


@cache
def units() -> tuple[tuple[str, re.Pattern[str]], ...]:
    return tuple(
        (name, re.compile(rf"(?P<number>\d+(?:[.,]\d+)*)[\s-]*(?:{words})(?!\w)", re.I))
        for name, words in load()["units"].items()
    )


def any_of(patterns: Iterable[str]) -> re.Pattern[str]:
    return re.compile(rf"(?<![\w-])(?:{'|'.join(patterns)})(?![\w-])", re.I)
