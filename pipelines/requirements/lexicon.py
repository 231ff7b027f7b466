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


_SELF = (
    r"(?:(?:i|we|you)(?:'d|'ll|'m|'re| would| will| am| are| do| can| could| might)?"
    r"|(?<=and)|(?<=, )|^)"
    r"(?: ?(?:also|usually|always|probably|mainly|mostly|really|definitely|basically|just|first|"
    r"then|kind of|sort of|generally|typically|often|still|particularly|normally|personally|"
    r"likely|do|would|will|try to|have to|tend to|like to|want to|need to|going to|actually|"
    r"prefer to|sometimes|again|most|more)(?= ))* ?(?<![\w'])"
)


@cache
def criteria_words(name: str) -> frozenset[str]:
    return frozenset(load("criteria")[name])


@cache
def criteria_map(name: str) -> dict[str, str]:
    return mapping("criteria", name)


def quality_of(word: str) -> str | None:
    """The noun of an adjective or its comparative: "close" and "closer" are "proximity"."""
    known, low = criteria_map("qualities"), word.lower()
    forms = (low, low.removesuffix("er"), low.removesuffix("r"), f"{low.removesuffix('ier')}y")
    return next((known[form] for form in forms if form in known), None)


@cache
def criteria_patterns(name: str) -> re.Pattern[str]:
    """As :func:`any_of`; groups of the same name are numbered."""
    rows = [
        re.sub(r"\(\?P<(\w+)>", rf"(?P<\g<1>_{at}>", row)
        for at, row in enumerate(load("criteria")[name])
    ]
    return any_of(rows)


@dataclass(frozen=True, slots=True)
class CriterionCue:
    name: str
    side: str
    """Where the selection criterion is: after, before, or after and avoided."""
    verb: str
    strength: float
    must: bool
    pattern: re.Pattern[str]


@cache
def criterion_cues() -> tuple[CriterionCue, ...]:
    return tuple(
        CriterionCue(
            name=row["name"],
            side=side,
            verb=row.get("verb", "find"),
            strength=float(row["strength"]),
            must=row.get("must") == "true",
            pattern=re.compile(
                rf"(?:(?<![\w-])|(?='))(?:{row['pattern'].replace('{self} ', _SELF)})(?![\w'-])",
                re.I,
            ),
        )
        for side in ("after", "before", "avoid")
        for row in load("criteria")[side]
    )
