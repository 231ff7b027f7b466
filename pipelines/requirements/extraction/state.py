"""What flows between the steps of extraction. Each key is written by exactly one step."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, TypedDict

from pipelines.requirements.labels import Requirement
from pipelines.types import Case

Side = Literal["analyst", "client"]
"""Who speaks: somebody who asks, or somebody who wants the software."""

Kind = Literal["own", "answer", "offer", "summary"]
"""The client's own sentence, a short answer that needs its question, what the analyst offered,
what the analyst summed up."""

Standing = Literal["standing", "corrected", "refused", "withdrawn", "open"]
"""How a commitment stands at the end of the talk; only the first two are wanted."""

Outcome = Literal["accepted", "changed", "refused", "withdrawn"]
OpenReason = Literal["unanswered", "undecided"]


@dataclass(frozen=True, slots=True)
class Utterance:
    """A sentence or list item of a message, at its place."""

    message: int
    text: str
    side: Side
    question: bool
    start: int = 0
    """Its place in the message's text, in characters."""
    at: int = 0
    of: int = 1
    """Its number in its message, and how many there are."""
    asked: Utterance | None = None
    """Of the client's: the last sentence of the analyst before the answer."""
    marks: Mapping[str, float] = field(default_factory=dict, hash=False)
    """Of the client's: how likely it wants, accepts, refuses, … (``marks.MARKS``)."""

    @property
    def place(self) -> tuple[int, int]:
        return self.message, self.start

    def mark(self, *names: str) -> float:
        return sum(self.marks.get(name, 0.0) for name in names)


@dataclass(frozen=True, slots=True)
class Statement:
    """How what was said is put down."""

    text: str
    """The action."""
    said: str
    """The whole of it as it was said, without hums."""
    who: str = ""
    condition: str | None = None
    quoted: bool = False
    """Word for word."""


@dataclass(frozen=True, slots=True)
class Ending:
    """The words that ended a commitment."""

    message: int
    words: str = ""


@dataclass(frozen=True, slots=True)
class Commitment:
    """What somebody said that may count as wanted, and what became of it."""

    kind: Kind
    sentence: Utterance
    """The sentence as it was said; who said it, and where."""
    text: str
    """How it is put down."""
    shape: str
    """By which shape; ``told`` is word for word."""
    messages: tuple[int, ...]
    answer: tuple[Utterance, ...]
    """The client's sentences by which it stands or falls."""
    who: str = ""
    condition: str | None = None
    """By whom and when, where its shape tells them apart."""
    accepted: float = 0.0
    """Of the analyst's: how likely the answer accepts it."""
    state: Standing = "standing"
    ended_by: Ending | None = None
    undone: float = 0.0
    """How likely a later sentence takes it back."""
    keep: float = 0.0
    """How likely a reader could use it."""

    @property
    def wanted(self) -> bool:
        return self.state in {"standing", "corrected"}


@dataclass(frozen=True, slots=True)
class OpenQuestion:
    """What was asked and has no answer at the end."""

    question: Utterance
    reason: OpenReason
    reply: Utterance | None = None
    """What was said instead of an answer."""


@dataclass(frozen=True, slots=True)
class Decision:
    """A proposal that the client decided on, or a wish that was changed or taken back."""

    text: str
    outcome: Outcome
    answer: Utterance
    question: Utterance | None = None


class ExtractionState(TypedDict, total=False):
    case: Case  # input
    sentences: list[Utterance]  # read
    commitments: list[Commitment]  # settle: all of them, each with how it stands at the end
    open_questions: list[OpenQuestion]  # settle
    decisions: list[Decision]  # settle, in the order of their turns
    kept: list[Commitment]  # select: what a reader can likely use
    drafts: list[Requirement]  # word
    requirements: list[Requirement]  # finish
