"""The layers of one conversation: its topics over time, anomalies, and threads."""

from __future__ import annotations

from typing import Any, NamedTuple

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.dateparse import parse_datetime
from django.utils.translation import gettext
from django.views.decorators.http import require_GET, require_POST

from evaluation.models import BuiltLayer
from evaluation.services import memory_builds
from evaluation.services.memory_builds import Build
from labeling.core import access
from labeling.models import Conversation
from labeling.translation import lazy as _
from labeling.words import words_of
from pipelines.memory.layers.nodes import MEASURES, Signals, Threads, Topics

PAGE_SIZE = 30
STOP_POLLING = 286
BADGES = {"queued": "", "running": "info", "finished": "ok", "failed": "bad"}
SHORT = 12  # of a configuration's hash in addresses


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
    """What is usual of a signal in the conversation, and which topics stand out in it."""

    title: str
    summary: str
    mean: str
    limit: str
    anchors: list[str]
    n_undefined: int
    reason: str
    """Why no topic has a value; empty if one has."""


@require_GET
def conversation_layers(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    conversation = _conversation(request, slug, pk)
    now, builds, build = _builds(conversation, request.GET.get("config", ""))
    context = {
        "project": conversation.project,
        "conversation": conversation,
        "builds": builds,
        "unasked": not now.state,
        **(_progress(build) if build else {}),
        **(_built(request, conversation, build) if build else {}),
    }
    return render(request, "evaluation/layers.html", context)


@require_GET
def conversation_layers_progress(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """The part that polls; when the build ends, the page is loaded again, with its layers."""
    conversation = _conversation(request, slug, pk)
    _, _, build = _builds(conversation, request.GET.get("config", ""))
    context = {"project": conversation.project, "conversation": conversation}
    if build:
        context |= _progress(build)
    response = render(request, "evaluation/_layers_progress.html", context)
    if build is None or build.state in ("finished", "failed"):
        response.status_code = STOP_POLLING
        response["HX-Refresh"] = "true"
    return response


@require_POST
def conversation_layers_build(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    conversation = _conversation(request, slug, pk)
    if memory_builds.request(conversation, by=request.user):
        messages.success(request, gettext("A worker builds the layers; this page follows it."))
    else:
        messages.info(request, gettext("The layers are built already."))
    return redirect("layers", slug, pk)


def _conversation(request: HttpRequest, slug: str, pk: int) -> Conversation:
    project = access.readable(request.user, slug)
    return get_object_or_404(project.conversations.select_related("project"), pk=pk)


def _builds(conversation: Conversation, asked: str) -> tuple[Build, list[Build], Build | None]:
    """That of now, those that there are, and the one asked for, else the first."""
    now, *others = memory_builds.builds_of(conversation)
    builds = [now, *others] if now.state else others
    chosen = (build for build in builds if len(asked) == SHORT and build.key.startswith(asked))
    return now, builds, next(chosen, builds[0] if builds else None)


def _progress(build: Build) -> dict[str, Any]:
    waiting = [kind for kind in BuiltLayer.Kind if kind not in build.ready]
    return {
        "build": build,
        "badge": BADGES[build.state],
        "short": build.key[:SHORT],
        "steps": [
            {
                "title": kind.label,
                "row": build.ready.get(kind),
                "working": build.state == "running" and kind == waiting[0],
            }
            for kind in BuiltLayer.Kind
        ],
        "ready": build.ready,
    }


def _built(request: HttpRequest, conversation: Conversation, build: Build) -> dict[str, Any]:
    """What there is so far: each layer is shown as soon as it is ready."""
    ready = build.ready
    if "topics" not in ready:
        return {}
    topics = Topics.from_json(ready["topics"].payload)
    signals = Signals.from_json(ready["signals"].payload) if "signals" in ready else None
    threads = Threads.from_json(ready["threads"].payload) if "threads" in ready else None
    anchors = _anchors(signals)
    layers = (topics, signals, threads)
    return {
        "topics": topics,
        "size": conversation.n_messages,
        "ends": _ends(topics),
        "signals": _signal_rows(signals) if signals else [],
        "threads": threads,
        "problems": [problem for layer in layers if layer for problem in layer.problems],
        "page": _page(request, topics, signals, threads, anchors),
        "config": build.config,
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
                anchors=[each.node_id for each in signals.anchors if each.measure == line.measure],
                n_undefined=len(signals.nodes) - line.n,
                reason="" if line.n else words_of(next(filter(None, reasons), None)),
            )
        )
    return rows


def _figure(value: float | None, measure: str) -> str:
    if value is None:
        return "–"
    if measure.startswith("reply_delay"):
        return f"{value:.0f} s"
    if measure == "silence_event":
        return "yes" if value else "no"
    return f"{value:.0f}" if measure == "topic_frequency" else f"{value:.2f}"


def _page(
    request: HttpRequest,
    topics: Topics,
    signals: Signals | None,
    threads: Threads | None,
    anchors: dict[str, list[str]],
) -> Any:
    """The page of topics asked for, or the one with the topic asked for."""
    pages = Paginator(topics.nodes, PAGE_SIZE)
    wanted = request.GET.get("node", "")
    at = next((at for at, node in enumerate(topics.nodes) if node.node_id == wanted), None)
    number = str(at // PAGE_SIZE + 1) if at is not None else request.GET.get("page", "1")
    page = pages.get_page(number)
    rows = {row.node_id: row for row in signals.nodes} if signals else {}
    thread_of = (
        {node_id: thread for thread in threads.threads for node_id in thread.node_ids}
        if threads
        else {}
    )
    cards = [
        {
            "node": node,
            "start": parse_datetime(node.start_time) if node.start_time else None,
            "anchors": anchors.get(node.node_id, []),
            "thread": thread_of.get(node.node_id),
            "figures": _figures(rows.get(node.node_id)),
        }
        for node in page.object_list
    ]
    return {"page": page, "cards": cards}


def _figures(row: Any) -> list[tuple[str, str, str]]:
    """Title, value, and why there is none."""
    if row is None:
        return []
    return [
        (
            SIGNALS[measure][0],
            _figure(row.values[measure], measure),
            words_of(row.reasons.get(measure)),
        )
        for measure in MEASURES
    ]


def _anchors(signals: Signals | None) -> dict[str, list[str]]:
    signals_of: dict[str, list[str]] = {}
    for anchor in signals.anchors if signals else ():
        named = signals_of.setdefault(anchor.node_id, [])
        if anchor.signal not in named:
            named.append(anchor.signal)
    return {
        node_id: [signal.replace("_", " ") for signal in named]
        for node_id, named in signals_of.items()
    }


def _ends(topics: Topics) -> list[Any]:
    times = [node.start_time for node in topics.nodes if node.start_time]
    return [parse_datetime(time) for time in (times[0], times[-1])] if times else []
