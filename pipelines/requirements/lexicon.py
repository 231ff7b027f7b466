"""The word lists of ``lexicons/``, read once. They hold the language; the code holds the method."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import yaml

FOLDER = Path(__file__).parent / "lexicons"


@dataclass(frozen=True, slots=True)
class Cue:
    name: str
    kind: str
    priority: str
    strength: float
    pattern: re.Pattern[str]
    negative: bool = False


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
    """All verbs of the lists; what models were fitted with knows those of ``words`` alone."""
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
    return any_of(load("signals")[name])


@cache
def cues() -> tuple[Cue, ...]:
    return tuple(
        Cue(
            name=row["name"],
            kind=row["kind"],
            priority=row["priority"],
            strength=float(row["strength"]),
            pattern=re.compile(_as_word(row["pattern"]), re.I),
            negative=row.get("negative") == "true",
        )
        for row in load("cues")
    )


@cache
def type_words() -> dict[str, tuple[tuple[int, re.Pattern[str]], ...]]:
    return {
        kind: tuple(
            (int(weight), re.compile(rf"(?<!\w)(?:{'|'.join(patterns)})(?!\w)", re.I))
            for weight, patterns in rows.items()
        )
        for kind, rows in load("types").items()
    }


def any_of(patterns: Iterable[str]) -> re.Pattern[str]:
    return re.compile("|".join(f"(?:{pattern})" for pattern in patterns), re.I)


def _as_word(pattern: str) -> str:
    """The wording as separate words, or right after a pronoun ("we'd like", "it'd be nice")."""
    apart = rf"(?<![\w'-])(?:{pattern})(?!\w)"
    if "(?P<" in pattern:  # a group may be named only once
        return apart
    return rf"{apart}|(?<=\w)(?='(?:d|ll|s|ve)\b)(?:{pattern})(?!\w)"
