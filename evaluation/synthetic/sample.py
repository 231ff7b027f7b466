"""What a generator returns, and when it is good enough to be kept."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from labeling.domain.facts import Fact
from labeling.schema import DEFAULT_LAYER, check_payload
from labeling.schema.labels import StoredLabel

USER = "user"


class Size(NamedTuple):
    """How many of something there are, both ends included."""

    least: int
    most: int


class Difficulty(NamedTuple):
    messages: Size
    requirements: Size
    share: float
    """Of a mixed set."""
    criteria: int
    """At least one requirement has this number of acceptance criteria."""


DIFFICULTIES = {
    "easy": Difficulty(Size(2, 4), Size(1, 3), 0.3, 2),
    "medium": Difficulty(Size(4, 8), Size(3, 6), 0.5, 3),
    "hard": Difficulty(Size(8, 15), Size(6, 12), 0.2, 4),
}
MIXED = "mixed"


@dataclass(frozen=True, slots=True)
class Turn:
    role: str
    content: str


@dataclass(frozen=True, slots=True)
class Sample:
    id: str
    domain: str
    difficulty: str
    turns: tuple[Turn, ...]
    requirements: tuple[StoredLabel, ...]


def difficulties(name: str, count: int) -> list[str]:
    """One for each of ``count`` samples; of a mixed set in the shares of the difficulties.

    Examples
    --------
    >>> Counter(difficulties("mixed", 10))
    Counter({'medium': 5, 'easy': 3, 'hard': 2})
    """
    if name != MIXED:
        return [name] * count
    names: list[str] = []
    passed = 0.0
    for difficulty, what in DIFFICULTIES.items():
        passed += what.share
        names += [difficulty] * (round(passed * count) - len(names))
    return names


def problems_of(sample: Sample) -> list[Fact]:
    """Why a sample is thrown out; nothing if it verifies."""
    return list(_problems(sample))


def _problems(sample: Sample) -> Iterator[Fact]:
    asked = DIFFICULTIES[sample.difficulty]
    if len(sample.turns) < asked.messages.least:
        yield Fact("sample.too_few_messages")
    elif len(sample.turns) > asked.messages.most:
        yield Fact("sample.too_many_messages")
    if len(sample.requirements) < asked.requirements.least:
        yield Fact("sample.too_few_requirements")
    elif len(sample.requirements) > asked.requirements.most:
        yield Fact("sample.too_many_requirements")
    for name in _fields_against_schema(sample):
        yield Fact("sample.labels_break_schema", field=name)
    titles = Counter(
        str(requirement.get("title", "")).strip().lower() for requirement in sample.requirements
    )
    if titles and titles.most_common(1)[0][1] > 1:
        yield Fact("sample.requirement_twice")
    criteria = [
        len(requirement.get("acceptance_criteria") or []) for requirement in sample.requirements
    ]
    if max(criteria, default=0) < asked.criteria:
        yield Fact("sample.too_few_criteria")
    if not all(_said_by_user(requirement, sample.turns) for requirement in sample.requirements):
        yield Fact("sample.not_stated_by_user")


def _fields_against_schema(sample: Sample) -> list[str]:
    problems = check_payload(
        {"requirements": list(sample.requirements)},
        layers=[DEFAULT_LAYER],
        message_count=len(sample.turns),
        complete=True,
    )
    return sorted({problem.path.rsplit(".", 1)[-1] for problem in problems})


def _said_by_user(requirement: StoredLabel, turns: Sequence[Turn]) -> bool:
    cited = requirement.get("source_messages") or []
    return any(
        isinstance(index, int) and 0 <= index < len(turns) and turns[index].role == USER
        for index in cited
    )
