"""A conversation made ready for questions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date
from functools import cached_property
from typing import Protocol

from pipelines.memory.dates import Days
from pipelines.memory.layers.nodes import Layers, TopicNode
from pipelines.memory.times import moment
from pipelines.types import Message


class Ranking(Protocol):
    """Parallel and best first; ``indexes`` are 0-based, ``probabilities`` calibrated."""

    @property
    def indexes(self) -> Sequence[int]: ...

    @property
    def probabilities(self) -> Sequence[float]: ...


class Index(Protocol):
    def rank_by(self, method: str, text: str, *, limit: int | None = None) -> Ranking: ...


@dataclass(frozen=True)
class Talk:
    messages: Sequence[Message]
    index: Index
    layers: Layers | None = None
    """None: nobody asked for them."""
    held_out: bool = False
    """Whether weights are used that were fitted without this conversation."""

    @property
    def topics(self) -> Sequence[TopicNode]:
        return self.layers.topics.nodes if self.layers else ()

    @cached_property
    def short_names(self) -> dict[str, str]:
        """The speakers by their first letter, where that tells them apart, else by their name."""
        names = dict.fromkeys(message.speaker for message in self.messages)
        letters = {name[:1]: name for name in names}
        return letters if len(letters) == len(names) else {name: name for name in names}

    @cached_property
    def days(self) -> tuple[date | None, ...]:
        times = map(moment, self.messages)
        return tuple(time.date() if time else None for time in times)

    @cached_property
    def span(self) -> Days | None:
        known = [day for day in self.days if day is not None]
        return Days(min(known), max(known)) if known else None


def local_ids(positions: Iterable[int]) -> list[int]:
    """Positions as users count them: from 1, in the order given."""
    return [position + 1 for position in positions]
