"""What the layers consist of, and the plain JSON in which they are kept."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from functools import cached_property
from typing import Any

from pipelines.errors import Fact

SIGNALS = (
    "reply_delay",
    "term_shift",
    "silence_event",
    "topic_frequency",
    "initiator_ratio",
    "emotional_tone",
    "conflict_intensity",
)
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

    def as_json(self) -> Mapping[str, object]:
        bounds = {"start_local_id": self.start_local_id, "end_local_id": self.end_local_id}
        return asdict(self) | bounds

    @classmethod
    def from_json(cls, row: Mapping[str, Any]) -> TopicNode:
        kept = {key: value for key, value in row.items() if key in cls.__slots__}
        lists = {key: tuple(kept[key]) for key in ("all_message_ids", "terms")}
        return cls(**(kept | lists))


@dataclass(frozen=True, slots=True)
class Topics:
    nodes: tuple[TopicNode, ...]
    bursts: int
    reason: Fact | None = None
    """What is wrong with the bursts; ``None``: nothing."""
    problems: tuple[Fact, ...] = ()
    model: str | None = None

    def as_json(self) -> Mapping[str, object]:
        return asdict(self) | {"nodes": [node.as_json() for node in self.nodes]}

    @classmethod
    def from_json(cls, payload: Mapping[str, Any]) -> Topics:
        nodes = tuple(TopicNode.from_json(row) for row in payload["nodes"])
        return cls(**{**payload, "nodes": nodes, "problems": tuple(payload["problems"])})


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


@dataclass(frozen=True, slots=True)
class Signals:
    nodes: tuple[NodeSignals, ...]
    baselines: tuple[Baseline, ...]
    anchors: tuple[Anchor, ...]
    pet_names: tuple[str, ...] = ()
    problems: tuple[Fact, ...] = ()
    model: str | None = None

    def as_json(self) -> Mapping[str, object]:
        return asdict(self)

    @classmethod
    def from_json(cls, payload: Mapping[str, Any]) -> Signals:
        return cls(
            nodes=tuple(NodeSignals(**row) for row in payload["nodes"]),
            baselines=tuple(Baseline(**row) for row in payload["baselines"]),
            anchors=tuple(Anchor(**row) for row in payload["anchors"]),
            pet_names=tuple(payload["pet_names"]),
            problems=tuple(payload["problems"]),
            model=payload["model"],
        )


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


@dataclass(frozen=True, slots=True)
class Threads:
    links: tuple[Link, ...]
    threads: tuple[Thread, ...]
    problems: tuple[Fact, ...] = ()
    model: str | None = None

    def as_json(self) -> Mapping[str, object]:
        return asdict(self)

    @classmethod
    def from_json(cls, payload: Mapping[str, Any]) -> Threads:
        rows = payload["threads"]
        return cls(
            links=tuple(Link(**row) for row in payload["links"]),
            threads=tuple(Thread(**{**row, "node_ids": tuple(row["node_ids"])}) for row in rows),
            problems=tuple(payload["problems"]),
            model=payload["model"],
        )


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

    @cached_property
    def linked_to(self) -> dict[str, tuple[str, ...]]:
        """The other nodes of a node's thread, by node."""
        return {
            node_id: tuple(other for other in thread.node_ids if other != node_id)
            for thread in self.threads.threads
            for node_id in thread.node_ids
        }
