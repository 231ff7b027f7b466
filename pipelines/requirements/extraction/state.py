"""What flows between the steps of extraction. Each key is written by exactly one step."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Literal, TypedDict

from pipelines.requirements.labels import Requirement
from pipelines.types import Case

Side = Literal["analyst", "client"]
"""Who speaks: somebody who asks, or somebody who wants the software."""

Act = Literal[
    "proposal",
    "request",
    "statement",
    "question",
    "answer",
    "acceptance",
    "partial_acceptance",
    "correction",
    "refusal",
    "withdrawal",
    "recap",
    "clarification",
    "small_talk",
]

SourceAct = Literal["stated", "proposed", "accepted", "corrected", "repeated"]

Standing = Literal["standing", "refused", "withdrawn", "corrected", "open"]
"""How a commitment stands at the end of the talk. A corrected one holds, in its new words; only
``standing`` and ``corrected`` count as wanted, ``open`` was never answered."""

EndReason = Literal["refused", "withdrawn", "replaced", "unanswered"]


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

    @property
    def asked(self) -> bool:
        return self.side == "analyst"


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
    acts: tuple[Act, ...] = ()
    """By which acts it came to stand, in their order: proposal and acceptance, or a statement."""
    state: Standing = "standing"
    ended_by: Ending | None = None
    actor: str = "System"
    details: tuple[str, ...] = ()
    """Further sentences that only add to it."""
    features: dict[str, float] = field(default_factory=dict)
    """What speaks for and against it, for its confidence."""
    keep: float = 0.0
    criterion: Criterion | None = None

    @property
    def messages(self) -> tuple[int, ...]:
        return tuple(sorted({source.message for source in self.sources}))

    @property
    def wanted(self) -> bool:
        return self.state in {"standing", "corrected"}


@dataclass(frozen=True, slots=True)
class Context:
    """What the wording of a commitment may look at besides its own words."""

    domain: str
    said: tuple[Utterance, ...]
    """Everything said, in order."""
    before: Requirement | None = None
    """The requirement worded just before."""


@dataclass(frozen=True, slots=True)
class Unworded:
    """A commitment of which no requirement could be made, not even a quotation."""

    reason: str


class ExtractionState(TypedDict, total=False):
    case: Case  # input
    sentences: list[Utterance]  # read
    commitments: list[Commitment]  # settle: all of them, each with how it stands at the end
    kept: list[Commitment]  # select: wanted, and likely a requirement
    drafts: list[Requirement]  # word
    unworded: Counter[str]  # word: how many were left out, by reason
    requirements: list[Requirement]  # finish
