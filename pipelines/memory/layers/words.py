"""Content words, and the word lists of the layers."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import Any

import yaml

_WORD = re.compile(r"[^\W\d_][\w'’-]*[^\W_]|[^\W\d_]{2,}")


@cache
def lexicon(name: str) -> Any:
    # The base loader keeps every word a string: "no" and "on" are words here, not booleans.
    with (Path(__file__).parent / "lexicons" / f"{name}.yaml").open(encoding="utf-8") as lines:
        return yaml.load(lines, Loader=yaml.CBaseLoader)  # noqa: S506 - builds strings only


def content_words(text: str) -> list[str]:
    words = (word.replace("’", "'").removesuffix("'s") for word in _WORD.findall(text))
    return [word for word in words if word.lower() not in _dull() and len(word) > 2]


@cache
def _dull() -> frozenset[str]:
    return frozenset(word for line in lexicon("dull") for word in line.split())
