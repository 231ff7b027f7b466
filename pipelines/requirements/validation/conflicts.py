"""Requirements that contradict each other: they are about the same thing and cannot both hold.

Two are about the same thing when their vectors are near each other once negations and figures are
taken out. They contradict when one denies what the other asks for, or when both name the same unit
with different figures.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from pipelines.requirements.labels import (
    Flaw,
    Issue,
    Requirement,
    field_text,
    issue,
    name_of,
    text_of,
)
from pipelines.requirements.validation.wording import pattern, units
from pipelines.types import Encoder

MOST_AT_ONE = 5
"""Contradictions at one requirement: of many that differ in a figure each names all the others."""
READ = ("action", "condition", "acceptance_criteria")


class Stand(NamedTuple):
    """What a requirement says beyond what it is about."""

    denies: bool
    figures: dict[str, frozenset[float]]


def contradictions(
    requirements: Sequence[Requirement], *, encoder: Encoder | None, conflict_above: float
) -> Iterator[Issue]:
    """One issue for each pair, at the later requirement; at each the few that are most alike."""
    if encoder is None or len(requirements) < 2:
        return
    vectors = encoder.encode([topic_of(text_of(requirement)) for requirement in requirements])
    alike = vectors @ vectors.T
    stands = [stand_of(requirement) for requirement in requirements]
    for second, later in enumerate(requirements):
        reasons: dict[int, str] = {}
        for first in sorted(range(second), key=lambda first: -alike[first, second]):
            if alike[first, second] <= conflict_above or len(reasons) == MOST_AT_ONE:
                break
            why = conflict(stands[first], stands[second])
            if why and not _quotes(requirements[first], later):
                reasons[first] = why
        for first in sorted(reasons):
            other = requirements[first]
            title = f"{other.get('id') or name_of(other)} “{other.get('title') or ''}”"
            said = f"It contradicts {title}: {reasons[first]}"
            fix = "Ask which of the two holds, and under which condition"
            yield issue(later, Flaw("contradictory", "action", None, said, fix))


def _quotes(requirement: Requirement, other: Requirement) -> bool:
    """Whether both quote the same sentence, one of them with what follows it."""
    words = [field_text(each, "action").strip("“”. ") for each in (requirement, other)]
    quoted = requirement.get("quoted") and other.get("quoted")
    return bool(quoted) and (words[0] in words[1] or words[1] in words[0])


def conflict(stand: Stand, other: Stand) -> str:
    """In words; empty if both can hold."""
    if stand.denies != other.denies:
        return "one denies what the other asks for"
    for unit in sorted(stand.figures.keys() & other.figures.keys()):
        left, right = stand.figures[unit], other.figures[unit]
        if not left & right:
            return f"they name other figures ({_listed(left)} and {_listed(right)} {unit}s)"
    return ""


def stand_of(requirement: Requirement) -> Stand:
    text = "\n".join(field_text(requirement, field) for field in READ)
    figures = {
        unit: numbers for unit, words in units().items() if (numbers := _numbers(words, text))
    }
    return Stand(bool(pattern("negations").search(field_text(requirement, "action"))), figures)


def topic_of(text: str) -> str:
    """What a text is about, without the words in which two contradicting texts differ."""
    for name in ("negations", "exclusive"):
        text = pattern(name).sub(" ", text)
    return " ".join(re.sub(r"\d+(?:[.,]\d+)*", " ", text).split())


def _numbers(words: re.Pattern[str], text: str) -> frozenset[float]:
    numbers = (match["number"].replace(",", "") for match in words.finditer(text))
    return frozenset(float(number) for number in numbers if number.count(".") < 2)


def _listed(numbers: frozenset[float]) -> str:
    return ", ".join(f"{number:g}" for number in sorted(numbers))
