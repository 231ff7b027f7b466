"""The layers of one conversation: its topics over time, what stands out in them, and threads."""

from __future__ import annotations

from typing import Any, NamedTuple

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.utils.dateparse import parse_datetime
from django.views.decorators.http import require_GET

from evaluation.models import BuiltLayer
from evaluation.services import memory_builds
from evaluation.services.memory_builds import Build
from evaluation.templatetags.present import Cell
from labeling.core import access
from labeling.translation import lazy as _
from labeling.words import words_of
from pipelines.memory.layers.nodes import MEASURES, Signals, Threads, TopicNode, Topics

SECONDS = _("seconds until the other person answers")
SIGNALS = {
    "reply_delay_avg": (_("Reply delay, mean"), SECONDS),
    "reply_delay_max": (_("Reply delay, longest"), SECONDS),
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


class SignalRow(NamedTuple):
    """What is usual of a signal in the conversation; ``reason``: why no topic has a value."""

    title: str
    summary: str
    mean: str
    limit: str
    n_undefined: int
    reason: str


class TopicRow(NamedTuple):
    node: TopicNode
    start: Any
    thread: str
    cells: list[Cell]
    """A value of each signal, ``warn`` where the topic stands out in it."""


@require_GET
def conversation_layers(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    project = access.readable(request.user, slug)
    conversation = get_object_or_404(project.conversations.select_related("project"), pk=pk)
    build = memory_builds.newest(conversation)
    context: dict[str, Any] = {"project": project, "conversation": conversation}
    if build:
        steps = [(kind.label, build.ready.get(kind)) for kind in BuiltLayer.Kind]
        context |= {"build": build, "steps": steps, **_built(build)}
    return render(request, "evaluation/layers.html", context)


def _built(build: Build) -> dict[str, Any]:
    """What there is so far: each layer is shown as soon as it is ready."""
    ready = {kind: row.payload for kind, row in build.ready.items()}
    if "topics" not in ready:
        return {}
    topics = Topics.from_json(ready["topics"])
    signals = Signals.from_json(ready["signals"]) if "signals" in ready else None
    threads = Threads.from_json(ready["threads"]) if "threads" in ready else None
    return {
        "topics": topics,
        "rows": _topic_rows(topics, signals, threads),
        "heads": [SIGNALS[measure][0] for measure in MEASURES] if signals else [],
        "signals": _signal_rows(signals) if signals else [],
        "threads": threads,
    }


def _signal_rows(signals: Signals) -> list[SignalRow]:
    rows = []
    for line in signals.baselines:
        # the mean of whole numbers is none
        unit = "" if line.measure == "topic_frequency" else line.measure
        reasons = (row.reasons.get(line.measure) for row in signals.nodes)
        rows.append(
            SignalRow(
                *SIGNALS[line.measure],
                mean=_figure(line.mean, unit),
                limit=_figure(line.threshold, unit),
                n_undefined=len(signals.nodes) - line.n,
                reason="" if line.n else words_of(next(filter(None, reasons), None)),
            )
        )
    return rows


def _topic_rows(topics: Topics, signals: Signals | None, threads: Threads | None) -> list[TopicRow]:
    thread_of = {
        node_id: thread.thread_id
        for thread in (threads.threads if threads else ())
        for node_id in thread.node_ids
    }
    standing_out = {(each.node_id, each.measure) for each in signals.anchors} if signals else set()
    cells = {
        row.node_id: [
            Cell(
                _figure(row.values[measure], measure),
                words_of(row.reasons.get(measure)),
                "warn" if (row.node_id, measure) in standing_out else "",
            )
            for measure in MEASURES
        ]
        for row in (signals.nodes if signals else ())
    }
    return [
        TopicRow(
            node,
            parse_datetime(node.start_time) if node.start_time else None,
            thread_of.get(node.node_id, ""),
            cells.get(node.node_id, []),
        )
        for node in topics.nodes
    ]


def _figure(value: float | None, measure: str) -> str:
    if value is None:
        return "–"
    if measure.startswith("reply_delay"):
        return f"{value:.0f} s"
    if measure == "silence_event":
        return "yes" if value else "no"
    return f"{value:.0f}" if measure == "topic_frequency" else f"{value:.2f}"
