"""Requirements that cannot both hold: they are about the same and say otherwise.

About the same are two texts whose vectors are near each other once negations and figures are taken
out. Otherwise is: one denies what the other asks for, one allows to all what the other allows to
few, or both name the same unit with other figures.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import NamedTuple

from pipelines.requirements.validation.issues import Issue, issue
from pipelines.requirements.validation.words import pattern, units
from pipelines.requirements.wording import Requirement, field_text, name_of, text_of
from pipelines.types import Encoder

READ = ("action", "condition", "acceptance_criteria")
_SPACE = re.compile(r"\s+")


class Stand(NamedTuple):
    """What a requirement says beyond what it is about."""

    denies: bool
    few: bool
    all: bool
    figures: dict[str, frozenset[float]]


def contradictions(
    requirements: Sequence[Requirement], *, encoder: Encoder | None, conflict_above: float
) -> Iterator[Issue]:
    """One issue for each pair, at the later requirement."""
    if encoder is None or len(requirements) < 2:
        return
    vectors = encoder.encode([topic_of(text_of(one)) for one in requirements])
    alike = vectors @ vectors.T
    stands = [stand_of(one) for one in requirements]
    for first, second in combinations(range(len(requirements)), 2):
        if alike[first, second] > conflict_above:
            why = conflict(stands[first], stands[second])
            if why:
                yield _issue(requirements[first], requirements[second], why)


def conflict(one: Stand, other: Stand) -> str:
    """In words; empty if both can hold."""
    if one.denies != other.denies:
        return "one denies what the other asks for"
    if (one.few and other.all) or (one.all and other.few):
        return "one allows to everybody what the other allows to few"
    for unit in sorted(one.figures.keys() & other.figures.keys()):
        left, right = one.figures[unit], other.figures[unit]
        if not left & right:
            return f"they name other figures ({_listed(left)} and {_listed(right)} {unit}s)"
    return ""


def stand_of(requirement: Requirement) -> Stand:
    action = field_text(requirement, "action")
    said = "\n".join(field_text(requirement, field) for field in READ)
    return Stand(
        denies=bool(pattern("negations").search(action)),
        few=bool(pattern("exclusive").search(action)),
        all=bool(pattern("everybody").search(action)),
        figures={unit: found for unit, words in units() if (found := _numbers(words, said))},
    )


def topic_of(text: str) -> str:
    """What a text is about: without what two contradicting ones differ in."""
    for name in ("negations", "exclusive"):
        text = pattern(name).sub(" ", text)
    return _SPACE.sub(" ", re.sub(r"\d+(?:[.,]\d+)*", " ", text)).strip()


def _numbers(words: re.Pattern[str], text: str) -> frozenset[float]:
    given = (match["number"].replace(",", "") for match in words.finditer(text))
    return frozenset(float(number) for number in given if number.count(".") < 2)


def _listed(numbers: frozenset[float]) -> str:
    return ", ".join(f"{number:g}" for number in sorted(numbers))


def _issue(first: Requirement, second: Requirement, why: str) -> Issue:
    other = str(first.get("id") or name_of(first))
    return issue(
        second,
        "contradictory",
        "action",
        message=f"It contradicts {other} “{first.get('title') or ''}”: {why}",
        fix="Ask which of the two holds, and under which condition",
    )
