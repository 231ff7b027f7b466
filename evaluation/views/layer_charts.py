"""The geometry of the layers page: everything over the messages of the conversation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from labeling.translation import lazy as _
from labeling.words import words_of
from pipelines.memory.layers.nodes import Baseline, NodeSignals, Signals, Threads, TopicNode

WIDTH = 1000
HEIGHT = 60
LEAST_HEIGHT = 1.5
"""So that a value of 0 is seen to be there."""

TITLES = {
    "reply_delay_avg": (_("Reply delay, mean"), _("seconds until the other person answers")),
    "reply_delay_max": (_("Reply delay, longest"), _("seconds until the other person answers")),
    "term_shift": (_("Term shift"), _("share of the partner's messages without a usual pet name")),
    "silence_event": (
        _("Silences"),
        _("the pause after the topic is over three times the usual one"),
    ),
    "topic_frequency": (_("Topic frequency"), _("how often the topic was there before")),
    "initiator_ratio": (
        _("Initiator ratio"),
        _("share of exchanges opened by who wrote first of all"),
    ),
    "emotional_tone": (_("Emotional tone"), _("from −1, sad or angry, to 1, glad")),
    "conflict_intensity": (_("Conflict intensity"), "from 0 to 1"),
}
FIXED_RANGES = {
    "term_shift": (0.0, 1.0),
    "silence_event": (0.0, 1.0),
    "initiator_ratio": (0.0, 1.0),
    "emotional_tone": (-1.0, 1.0),
    "conflict_intensity": (0.0, 1.0),
}


class Bar(NamedTuple):
    node_id: str
    x: float
    width: float
    y: float
    height: float
    text: str
    anchor: bool = False
    undefined: bool = False


class Chart(NamedTuple):
    measure: str
    title: str
    summary: str
    bars: list[Bar]
    threshold: float | None
    """Height of the line above which a value stands out."""
    usual: str
    anchors: list[str]
    n: int
    n_undefined: int
    reason: str
    """Why no node has a value; empty if one has."""


class Strip(NamedTuple):
    thread_id: str
    title: str
    node_ids: tuple[str, ...]
    bars: list[Bar]
    line: Bar


def time_line(nodes: Sequence[TopicNode], size: int, anchors: Mapping[str, object]) -> list[Bar]:
    """One bar for each topic; every other burst is lower, so that the pauses are visible."""
    return [
        _bar(
            node, size, y=0 if node.burst_id % 2 else 20, height=40, anchor=node.node_id in anchors
        )
        for node in nodes
    ]


def signal_charts(nodes: Sequence[TopicNode], signals: Signals, size: int) -> list[Chart]:
    by_id = {row.node_id: row for row in signals.nodes}
    return [_chart(line, nodes, by_id, signals, size) for line in signals.baselines]


def strips(nodes: Sequence[TopicNode], threads: Threads, size: int) -> list[Strip]:
    """Longest first; the line ties the first node of a thread to its last."""
    by_id = {node.node_id: node for node in nodes}
    strips = []
    for thread in sorted(
        threads.threads, key=lambda thread: (-len(thread.node_ids), thread.thread_id)
    ):
        bars = [_bar(by_id[thread], size, y=4, height=12) for thread in thread.node_ids]
        line = Bar("", bars[0].x, bars[-1].x - bars[0].x, 9, 2, "")
        strips.append(Strip(thread.thread_id, thread.title, thread.node_ids, bars, line))
    return strips


def figure(value: float | None, measure: str) -> str:
    if value is None:
        return "–"
    if measure.startswith("reply_delay"):
        return f"{value:.0f} s"
    if measure == "silence_event":
        return "yes" if value else "no"
    return f"{value:.0f}" if measure == "topic_frequency" else f"{value:.2f}"


def _chart(
    line: Baseline,
    nodes: Sequence[TopicNode],
    rows: Mapping[str, NodeSignals],
    signals: Signals,
    size: int,
) -> Chart:
    title, summary = TITLES[line.measure]
    standing_out = [anchor.node_id for anchor in signals.anchors if anchor.measure == line.measure]
    low, high = _range(line, rows)
    bars = [_value_bar(node, rows[node.node_id], line, (low, high), size) for node in nodes]
    marked = set(standing_out)
    reasons = [row.reasons.get(line.measure) for row in rows.values()]
    seen = line.threshold is not None and low <= line.threshold <= high
    return Chart(
        line.measure,
        title,
        summary,
        [bar._replace(anchor=bar.node_id in marked) for bar in bars],
        _y(line.threshold, low, high) if seen and line.threshold is not None else None,
        _usual(line),
        standing_out,
        line.n,
        len(nodes) - line.n,
        words_of(next(filter(None, reasons), None)) if line.n == 0 else "",
    )


def _usual(line: Baseline) -> str:
    if line.mean is None:
        return ""
    mean = figure(line.mean, line.measure if line.measure != "topic_frequency" else "")
    if line.threshold is None:
        return _("mean {mean}").format(mean=mean)
    limit = figure(line.threshold, line.measure if line.measure != "topic_frequency" else "")
    return _("mean {mean}, stands out above {limit}").format(mean=mean, limit=limit)


def _range(line: Baseline, rows: Mapping[str, NodeSignals]) -> tuple[float, float]:
    if line.measure in FIXED_RANGES:
        return FIXED_RANGES[line.measure]
    values = [value for row in rows.values() if (value := row.values[line.measure]) is not None]
    return 0.0, max([*values, 1.0])


def _value_bar(
    node: TopicNode, row: NodeSignals, line: Baseline, span: tuple[float, float], size: int
) -> Bar:
    value = row.values[line.measure]
    value_text = figure(value, line.measure)
    if value is None:
        value_text = _("undefined: {reasons}").format(reasons=words_of(row.reasons[line.measure]))
    text = f"{node.node_id} {node.topic_name}: {value_text}"
    if value is None:
        return _bar(node, size, y=HEIGHT - 3, height=3, text=text)._replace(undefined=True)
    zero, top = _y(0.0, *span), _y(value, *span)
    height = max(abs(zero - top), LEAST_HEIGHT)
    return _bar(node, size, y=min(zero, top, HEIGHT - height), height=height, text=text)


def _bar(
    node: TopicNode, size: int, *, y: float, height: float, text: str = "", anchor: bool = False
) -> Bar:
    unit = WIDTH / max(size, 1)
    x = (node.start_local_id - 1) * unit
    width = max((node.end_local_id - node.start_local_id + 1) * unit * 0.9, 1.0)
    title = text or f"{node.node_id} {node.topic_name}"
    return Bar(
        node.node_id, round(x, 2), round(width, 2), round(y, 2), round(height, 2), title, anchor
    )


def _y(value: float, low: float, high: float) -> float:
    return round(HEIGHT * (1 - (value - low) / (high - low)), 2)
