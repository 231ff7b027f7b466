"""What flows between the steps. Each key is written by exactly one step."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypedDict

from pipelines.requirements.labels import Requirement
from pipelines.types import Case


@dataclass(frozen=True, slots=True)
class Sentence:
    message: int
    text: str
    asked: bool
    """Said by the one who asks (an analyst), not by one who has wishes."""
    question: bool
    first: bool
    """The first sentence of its message, where an answer would be."""


@dataclass(frozen=True, slots=True)
class Reading:
    """A clause taken apart."""

    subject: str
    predicate: str
    """Verb first, without modal verb."""
    condition: str | None
    shape: str
    """How it was said: modal, noun, passive, imperative, present, fragment, state."""
    cue: str | None
    kind: str | None
    strength: float
    priority: str
    negative: bool = False


@dataclass(frozen=True, slots=True)
class Criterion:
    """What somebody chooses by, as it was named."""

    what: str
    form: str
    """thing, quality ("close to work"), question ("how big it is"), own ("a smaller one")."""
    noun: str
    """What is chosen."""
    verb: str
    cue: str | None
    strength: float
    must: bool = False
    negative: bool = False
    told: str = ""
    """What was added about it: an embedded question, or what the speaker does about it."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A requirement in the making."""

    sentence: Sentence
    text: str
    reading: Reading
    question: Sentence | None
    sources: tuple[int, ...]
    actor: str = "System"
    details: tuple[str, ...] = ()
    """Further sentences that only add to this one."""
    features: dict[str, float] = field(default_factory=dict)
    keep: float = 0.0
    criterion: Criterion | None = None


class ExtractionState(TypedDict, total=False):
    case: Case  # input
    sentences: list[Sentence]  # read
    candidates: list[Candidate]  # detect
    standing: list[Candidate]  # settle: without what was withdrawn
    kept: list[Candidate]  # select
    drafts: list[Requirement]  # word
    requirements: list[Requirement]  # finish
