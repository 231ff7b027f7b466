"""The word lists of ``lexicons/``, read once. They hold the language; the code holds the method."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import Any

import yaml

FOLDER = Path(__file__).parent / "lexicons"


@cache
def load(name: str) -> Any:
    # The base loader keeps every word a string: "no" and "on" are words here, not booleans.
    with (FOLDER / f"{name}.yaml").open(encoding="utf-8") as lines:
        return yaml.load(lines, Loader=yaml.CBaseLoader)  # noqa: S506 - builds strings only


@cache
def words(name: str) -> frozenset[str]:
    return frozenset(load("words")[name])


@cache
def known_verbs() -> frozenset[str]:
    """All verbs of the lists; forms of a verb are known of those of ``words`` alone."""
    return words("verbs") | frozenset(load("grammar")["verbs"])


@cache
def mapping(file: str, name: str) -> dict[str, str]:
    return dict(load(file)[name])


@cache
def actors(name: str) -> frozenset[str]:
    return frozenset(load("actors")[name])


@cache
def roles(name: str) -> frozenset[str]:
    return frozenset(load("roles")[name])


@cache
def signal(name: str) -> re.Pattern[str]:
    return re.compile("|".join(f"(?:{each})" for each in load("signals")[name]), re.I)


@cache
def type_words() -> dict[str, tuple[tuple[int, re.Pattern[str]], ...]]:
    return {
        kind: tuple(
            (int(weight), re.compile(rf"(?<!\w)(?:{'|'.join(patterns)})(?!\w)", re.I))
            for weight, patterns in rows.items()
        )
        for kind, rows in load("types").items()
    }
