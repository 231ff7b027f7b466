"""Requirements that contradict each other: one denies what the other asks for.

They do when their vectors are near each other once the negations are taken out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from pipelines.requirements.labels import (
    Flaw,
    Issue,
    Requirement,
    field_text,
    issue,
    name_of,
    text_of,
)
from pipelines.requirements.validation.wording import pattern
from pipelines.types import Encoder

ALIKE = 0.75
"""Similarity above which two are about the same."""
READ = ("action", "condition", "acceptance_criteria")


def contradictions(
    requirements: Sequence[Requirement], *, encoder: Encoder | None
) -> Iterator[Issue]:
    """One issue for each pair, at the later requirement."""
    if encoder is None or len(requirements) < 2:
        return
    vectors = encoder.encode([topic_of(text_of(requirement)) for requirement in requirements])
    alike = vectors @ vectors.T
    denies = [_denies(one) for one in requirements]
    for second, later in enumerate(requirements):
        for first, other in enumerate(requirements[:second]):
            if denies[first] != denies[second] and alike[first, second] > ALIKE:
                title = f"{other.get('id') or name_of(other)} “{other.get('title') or ''}”"
                said = f"It contradicts {title}: one denies what the other asks for"
                fix = "Ask which of the two holds, and under which condition"
                yield issue(later, Flaw("contradictory", "action", None, said, fix))


def differ(one: Requirement, other: Requirement) -> bool:
    """Whether one denies what the other asks for, or they name other figures: they are two."""
    left, right = _figures(one), _figures(other)
    return _denies(one) != _denies(other) or bool(left and right and left.isdisjoint(right))


def _denies(requirement: Requirement) -> bool:
    return bool(pattern("negations").search(field_text(requirement, "action")))


def _figures(requirement: Requirement) -> set[str]:
    text = " ".join(field_text(requirement, name) for name in READ)
    return set(re.findall(r"\d+", text.replace(",", "")))


def topic_of(text: str) -> str:
    """What a text is about, without the words in which two contradicting texts differ."""
    for name in ("negations", "exclusive"):
        text = pattern(name).sub(" ", text)
    return " ".join(text.split())
