"""What the steps need of a conversation: messages, an index, and the built layers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from functools import cached_property
from typing import Protocol

from pipelines.memory.dates import Days
from pipelines.memory.times import moment
from pipelines.types import Message, Vectors


class Ranking(Protocol):
    """Parallel and best first; ``indexes`` are 0-based, ``probabilities`` calibrated."""

    @property
    def indexes(self) -> Sequence[int]: ...

    @property
    def scores(self) -> Sequence[float]: ...

    @property
    def probabilities(self) -> Sequence[float]: ...


class Index(Protocol):
    def rank_all(self, texts: Sequence[str], *, limit: int | None = None) -> Sequence[Ranking]: ...


@dataclass(frozen=True, slots=True)
class Node:
    """A topic of the conversation with all its messages."""

    node_id: str
    topic: str
    all_message_ids: tuple[int, ...]
    """LocalIds (1-based) of every message of the node, never a preview of them."""
    anchors: frozenset[str] = frozenset()
    """Signals in which the node stands out from the rest of the conversation."""
    linked: tuple[str, ...] = ()
    """Nodes of the same semantic thread."""

    @property
    def positions(self) -> range:
        return range(min(self.all_message_ids) - 1, max(self.all_message_ids))


@dataclass(frozen=True)
class Talk:
    messages: Sequence[Message]
    index: Index
    nodes: Sequence[Node] = ()
    people: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Speaker as stored → every name of the person in the conversation."""
    about: Callable[[str], tuple[str, ...]] = lambda question: ()
    """The speakers whom a text names."""
    vectors: Vectors | None = None
    """One L2-normalised row for each message."""
    left_out: str = ""
    """The key of the weights of evidence that were fitted without this conversation, if any."""

    @cached_property
    def node_at(self) -> dict[int, Node]:
        """The node of each message position."""
        return {local - 1: node for node in self.nodes for local in node.all_message_ids}

    @cached_property
    def by_id(self) -> dict[str, Node]:
        return {node.node_id: node for node in self.nodes}

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
