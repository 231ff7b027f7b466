"""What a generator returns, and when it is good enough to be kept."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from labeling.domain.schema import DEFAULT_LAYER, check_payload

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
    requirements: tuple[dict[str, Any], ...]


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


def problems_of(sample: Sample) -> list[str]:
    """Why a sample is thrown out; nothing if it verifies."""
    return list(_problems(sample))


def _problems(sample: Sample) -> Iterator[str]:
    asked = DIFFICULTIES[sample.difficulty]
    yield from _out_of(len(sample.turns), asked.messages, "messages")
    yield from _out_of(len(sample.requirements), asked.requirements, "requirements")
    for problem in _of_schema(sample):
        yield f"labels: {problem}"
    titles = Counter(
        str(requirement.get("title", "")).strip().lower() for requirement in sample.requirements
    )
    if titles and titles.most_common(1)[0][1] > 1:
        yield "a requirement stands twice"
    criteria = [
        len(requirement.get("acceptance_criteria") or []) for requirement in sample.requirements
    ]
    if max(criteria, default=0) < asked.criteria:
        yield "too few acceptance criteria for this difficulty"
    if not all(_said_by_user(requirement, sample.turns) for requirement in sample.requirements):
        yield "a requirement that no user states"


def _out_of(number: int, size: Size, what: str) -> Iterator[str]:
    if not size.least <= number <= size.most:
        yield f"too {'few' if number < size.least else 'many'} {what}"


def _of_schema(sample: Sample) -> list[str]:
    problems = check_payload(
        {"requirements": list(sample.requirements)},
        layers=[DEFAULT_LAYER],
        message_count=len(sample.turns),
        complete=True,
    )
    return sorted({problem.path.rsplit(".", 1)[-1] for problem in problems})


def _said_by_user(requirement: dict[str, Any], turns: Sequence[Turn]) -> bool:
    cited = requirement.get("source_messages") or []
    return any(
        isinstance(index, int) and 0 <= index < len(turns) and turns[index].role == USER
        for index in cited
    )
