"""What flows between the steps of extraction. Each key is written by exactly one step."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, NamedTuple, TypedDict

from pipelines.requirements.labels import Requirement
from pipelines.types import Case

Side = Literal["analyst", "client"]
"""Who speaks: somebody who asks, or somebody who wants the software."""

Act = Literal[
    "proposal",
    "statement",
    "question",
    "answer",
    "correction",
    "withdrawal",
    "recap",
    "clarification",
    "small_talk",
]

SourceAct = Literal["stated", "proposed", "accepted", "corrected", "repeated"]

Standing = Literal["standing", "corrected", "refused", "withdrawn", "replaced", "open"]
"""How a commitment stands at the end of the talk. A corrected one holds, in its new words; only
``standing`` and ``corrected`` count as wanted. Other words took the place of a ``replaced`` one,
and an ``open`` one was never answered."""

EndReason = Literal["refused", "withdrawn", "replaced", "unanswered"]

Stance = Literal["yes", "partial", "no", "unsure", "delegate", "clarify", "none"]
"""How an answer takes up what was put forward."""


@dataclass(frozen=True, slots=True)
class Utterance:
    """A sentence or list item of a message, at its place."""

    message: int
    text: str
    side: Side
    question: bool
    first: bool
    """The first sentence of its message, where an answer would be."""
    start: int = 0
    end: int = 0
    """Its place in the message's text, in characters."""
    speaker: str = ""
    acts: tuple[Act, ...] = ()
    item: bool = False
    """An item of a list, under the words before it."""
    number: int | None = None
    heading: str = ""

    @property
    def place(self) -> tuple[int, int]:
        return self.message, self.start

    @property
    def asked(self) -> bool:
        return self.side == "analyst"


@dataclass(frozen=True, slots=True)
class Reading:
    """How a clause says what is wanted."""

    predicate: str
    """What is left of it without who, and without the words for *must* or *want*."""
    shape: str
    """said (by a cue), imperative, present, fragment, state."""
    cue: str | None = None
    kind: str | None = None
    strength: float = 0.0
    priority: str = "should"


@dataclass(frozen=True, slots=True)
class Source:
    """A message that a commitment rests on, and what was done with it there."""

    message: int
    act: SourceAct


@dataclass(frozen=True, slots=True)
class Ending:
    """Why a commitment no longer stands, and the words that ended it."""

    reason: EndReason
    message: int
    words: str = ""


@dataclass(frozen=True, slots=True)
class Commitment:
    """What somebody said that may count as wanted, and what became of it.

    Said by the client, or by the analyst and then accepted, refused or left open.
    """

    sentence: Utterance
    """The sentence as it was said; who said it, and where."""
    text: str
    """The words as they hold at the end, without what only keeps the talk going."""
    reading: Reading
    question: Utterance | None
    """What it answers."""
    sources: tuple[Source, ...]
    state: Standing = "standing"
    ended_by: Ending | None = None
    actor: str = "System"
    details: tuple[str, ...] = ()
    """Further sentences that only add to it."""
    features: dict[str, float] = field(default_factory=dict)
    """What speaks for and against it, for its confidence."""
    keep: float = 0.0

    @property
    def messages(self) -> tuple[int, ...]:
        """The messages to cite: all but those that only summed it up."""
        return tuple(sorted({each.message for each in self.sources if each.act != "repeated"}))

    @property
    def in_other_words(self) -> bool:
        """Proposed, and answered by the client in words of their own that do not refuse it."""
        taken_up = any(each.act == "accepted" for each in self.sources)
        return self.state == "replaced" and taken_up

    @property
    def wanted(self) -> bool:
        return self.state in {"standing", "corrected"}


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
    asked: bool = False
    """A question with its short answer."""

    @property
    def in_full(self) -> str:
        return f"{self.who} {self.text} {self.condition or ''}"


Evidence = Literal["worded", "told", "untold"]
"""What the rules know of its stance: words that say that it is to be so, or that agree; none, as
in most of what is told; or not even that the answer is one."""


class Candidate(NamedTuple):
    """What may be a requirement."""

    commitment: Commitment
    said: Statement
    question: str = ""
    answer: str = ""
    """The client's words by which it stands or falls, and what they answer."""
    evidence: Evidence = "worded"


OpenReason = Literal["unanswered", "undecided", "named"]


@dataclass(frozen=True, slots=True)
class OpenQuestion:
    """What was asked, or named as unsettled, and has no answer at the end."""

    question: Utterance
    reason: OpenReason
    reply: Utterance | None = None
    """What was said instead of an answer."""


class ExtractionState(TypedDict, total=False):
    case: Case  # input
    sentences: list[Utterance]  # read
    commitments: list[Commitment]  # settle: all of them, each with how it stands at the end
    open_questions: list[OpenQuestion]  # settle
    candidates: int  # select: what was looked at
    kept: list[Candidate]  # select: what a reader likely lists
    drafts: list[Requirement]  # word
    requirements: list[Requirement]  # finish
