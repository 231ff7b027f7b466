"""What the layers consist of, and the plain JSON in which they are kept."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self

from pydantic import TypeAdapter

if TYPE_CHECKING:
    from pipelines.errors import Fact
else:  # pydantic reads no TypedDict of this Python's library
    Fact = dict[str, Any]

MEASURES = {
    "reply_delay_avg": "reply_delay",
    "reply_delay_max": "reply_delay",
    "term_shift": "term_shift",
    "silence_event": "silence_event",
    "topic_frequency": "topic_frequency",
    "initiator_ratio": "initiator_ratio",
    "emotional_tone": "emotional_tone",
    "conflict_intensity": "conflict_intensity",
}
"""What is measured of a node → the signal it belongs to: an average and a maximum are one."""


class Stored:
    """A layer, as JSON and back."""

    def as_json(self) -> Mapping[str, object]:
        return asdict(self)  # type: ignore[call-overload, no-any-return]

    @classmethod
    def from_json(cls, payload: Mapping[str, Any]) -> Self:
        adapter: TypeAdapter[Self] = TypeAdapter(cls)
        return adapter.validate_python(payload)


@dataclass(frozen=True, slots=True)
class TopicNode:
    node_id: str
    burst_id: int
    topic_name: str
    all_message_ids: tuple[int, ...]
    """LocalIds (1-based) of every message of the node."""
    terms: tuple[str, ...] = ()
    """What this node in particular is about, most characteristic terms first."""
    start_time: str | None = None
    end_time: str | None = None
    parent_node_id: str | None = None
    """The previous node with the same topic."""

    @property
    def start_local_id(self) -> int:
        return self.all_message_ids[0]

    @property
    def end_local_id(self) -> int:
        return self.all_message_ids[-1]


@dataclass(frozen=True)
class Topics(Stored):
    nodes: tuple[TopicNode, ...]
    bursts: int
    reason: Fact | None = None
    """What is wrong with the bursts; ``None``: nothing."""


@dataclass(frozen=True, slots=True)
class NodeSignals:
    node_id: str
    values: Mapping[str, float | None]
    """By measure; ``None`` where the definition gives no value."""
    reasons: Mapping[str, Fact] = field(default_factory=dict)
    """Why, for every measure that is ``None``."""


@dataclass(frozen=True, slots=True)
class Baseline:
    """The usual range of a measure in this conversation."""

    measure: str
    n: int
    mean: float | None
    deviation: float | None
    threshold: float | None


@dataclass(frozen=True, slots=True)
class Anchor:
    """A node that stands out from the rest of the conversation."""

    node_id: str
    signal: str
    measure: str
    value: float


@dataclass(frozen=True)
class Signals(Stored):
    nodes: tuple[NodeSignals, ...]
    baselines: tuple[Baseline, ...]
    anchors: tuple[Anchor, ...]
    pet_names: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Link:
    """From an earlier to a later node."""

    earlier: str
    later: str
    similarity: float


@dataclass(frozen=True, slots=True)
class Thread:
    """Nodes that are linked with each other, directly or through others, in time order."""

    thread_id: str
    title: str
    node_ids: tuple[str, ...]


@dataclass(frozen=True)
class Threads(Stored):
    links: tuple[Link, ...]
    threads: tuple[Thread, ...]


@dataclass(frozen=True)
class Layers:
    topics: Topics
    signals: Signals
    threads: Threads

    @cached_property
    def anchors_of(self) -> dict[str, frozenset[str]]:
        """The signals in which a node stands out, by node."""
        signals_of: dict[str, set[str]] = {}
        for anchor in self.signals.anchors:
            signals_of.setdefault(anchor.node_id, set()).add(anchor.signal)
        return {node_id: frozenset(signals) for node_id, signals in signals_of.items()}
