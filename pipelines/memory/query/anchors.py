"""Q2: where the talk stands out in what the question is about."""

from __future__ import annotations

from pipelines.memory.dates import Days
from pipelines.memory.query.intent import Intent
from pipelines.memory.query.talk import Node, Talk


def lookup_anchors(intent: Intent, talk: Talk) -> list[Node]:
    """Nodes that are anomalies in a signal of the focus, within the days asked for."""
    focus = frozenset(intent.focus_dimensions)
    return [
        node
        for node in talk.nodes
        if node.anchors & focus and in_days(node, intent.time_range, talk)
    ]


def in_days(node: Node, days: Days | None, talk: Talk) -> bool:
    if days is None:
        return True
    return any(days.hold(talk.days[local - 1]) for local in node.all_message_ids)
