"""A chat as it was read, before anything is stored."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from typing import Any, NamedTuple

from labeling.conversations.published.faults import ChatFault
from labeling.conversations.rules.evidence import MessageId
from labeling.conversations.rules.importing import Turn
from labeling.domain.errors import FileFault


class ChatRefused(FileFault):
    """The file is not a chat of this format; the text names the place and the reason."""


class Line(NamedTuple):
    """One message as published."""

    key: MessageId
    speaker: str
    text: str
    time: datetime | None
    pictured: bool


class Question(NamedTuple):
    """A question as published; ``place`` is where it is in its file."""

    place: str
    question: str
    answer: str
    evidence: tuple[str, ...]
    category: str
    adversarial_answer: str = ""


@dataclass(frozen=True)
class Chat:
    """One conversation in stable time order. ``lines[0]`` has localId 1."""

    id: str
    format: str
    lines: tuple[Line, ...]
    sessions: int
    names: tuple[str, ...]
    questions: tuple[Question, ...] = ()
    faults: tuple[ChatFault, ...] = ()
    gaps: Mapping[MessageId, str] = field(default_factory=dict)

    @property
    def turns(self) -> tuple[Turn, ...]:
        return tuple(
            Turn(role="speaker", content=line.text, speaker=line.speaker, time=line.time)
            for line in self.lines
        )

    @cached_property
    def positions(self) -> dict[MessageId, int]:
        """0-based position by published id."""
        return {line.key: position for position, line in enumerate(self.lines)}

    @property
    def dia_ids(self) -> list[str]:
        """The published id of each message, in order: that of localId 1 comes first."""
        return [str(line.key) for line in self.lines]


def in_time_order(lines: Sequence[Line]) -> tuple[Line, ...]:
    """Stable: equal times keep the order of the file, and a line without a time its place."""
    latest: datetime | None = None
    keyed: list[tuple[datetime | None, Line]] = []
    for line in lines:
        latest = line.time or latest
        keyed.append((latest, line))
    timed = [pair for pair in keyed if pair[0] is not None]
    untimed = [line for key, line in keyed if key is None]  # before the first time of all
    return (*untimed, *(line for _, line in sorted(timed, key=_moment)))


def _moment(keyed: tuple[datetime | None, Line]) -> Any:
    return keyed[0]
