"""L1.5: how a topic was talked about, and where that is out of the ordinary.

A measure is ``None``, with a reason, where its definition gives no value.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import pairwise
from statistics import StatisticsError, mean, median, stdev

from pipelines.errors import Fact, fact
from pipelines.memory.layers.config import LayersConfig
from pipelines.memory.layers.nodes import (
    MEASURES,
    Anchor,
    Baseline,
    NodeSignals,
    Signals,
    TopicNode,
)
from pipelines.memory.layers.tone import Rating, local_rating
from pipelines.memory.layers.words import lexicon
from pipelines.memory.times import seconds_between
from pipelines.types import Message

Measured = tuple[float | None, Fact | None]
"""A value, or None and the reason."""
FIRST_PART = 5
"""Pet names are usual if they occur in the first fifth of the chat."""
ONE_SPEAKER = fact("memory.one_speaker")
NO_TIMES = fact("memory.no_times")
NO_PARTNER = fact("memory.silent_partner")
NO_PET_NAMES = fact("memory.no_pet_names")
LAST = fact("memory.last_node")
NO_PAUSES = fact("memory.no_pauses")


def measure_nodes(
    nodes: Sequence[TopicNode],
    messages: Sequence[Message],
    *,
    config: LayersConfig,
) -> Signals:
    """All measures of all nodes; tone and conflict by lexicons."""
    names = pet_names(messages, config)
    pause = usual_pause(nodes, messages)
    rows = []
    for at, node in enumerate(nodes):
        own = messages_of(node, messages)
        following = nodes[at + 1] if at + 1 < len(nodes) else None
        measured: dict[str, Measured] = {
            **_delays(own),
            "term_shift": term_shift(own, messages, names),
            "silence_event": silence(node, following, messages, pause, config.silence_factor),
            "topic_frequency": (float(_earlier(node, nodes[:at])), None),
            "initiator_ratio": initiator_ratio(own, messages),
            **_rated(local_rating(own)),
        }
        rows.append(_row(node, measured))
    baselines = [baseline(rows, measure, config.anomaly_deviations) for measure in MEASURES]
    return Signals(tuple(rows), tuple(baselines), tuple(anchors(rows, baselines)), names)


def messages_of(node: TopicNode, messages: Sequence[Message]) -> list[Message]:
    return [messages[local - 1] for local in node.all_message_ids]


def reply_delays(messages: Sequence[Message]) -> list[float] | Fact:
    """Seconds from each message to the next where the sender changes, or why there are none."""
    turns = [(a, b) for a, b in pairwise(messages) if a.speaker != b.speaker]
    if not turns:
        return ONE_SPEAKER
    known = [gap for a, b in turns if (gap := seconds_between(a, b)) is not None]
    return known or NO_TIMES


def term_shift(own: Sequence[Message], chat: Sequence[Message], names: Sequence[str]) -> Measured:
    """Share of the partner's messages without a usual pet name."""
    if not names:
        return None, NO_PET_NAMES
    partner = [message for message in own if message.speaker != chat[0].speaker]
    if not partner:
        return None, NO_PARTNER
    return sum(not _calls(message, names) for message in partner) / len(partner), None


def initiator_ratio(own: Sequence[Message], chat: Sequence[Message]) -> Measured:
    """Share of exchanges opened by the person who wrote the first message of the chat.

    An exchange is two neighbours by different people; none shares a message with another.
    """
    opened, at = [], 0
    while at + 1 < len(own):
        if own[at].speaker != own[at + 1].speaker:
            opened.append(own[at].speaker == chat[0].speaker)
            at += 1
        at += 1
    return (sum(opened) / len(opened), None) if opened else (None, ONE_SPEAKER)


def silence(
    node: TopicNode,
    following: TopicNode | None,
    messages: Sequence[Message],
    pause: float | None,
    factor: float,
) -> Measured:
    """1 if the conversation stops after the node for more than ``factor`` times the usual pause."""
    if following is None:
        return None, LAST
    gap = _gap(node, following, messages)
    if gap is None:
        return None, NO_TIMES
    if pause is None:
        return None, NO_PAUSES
    return float(gap > factor * pause), None


def usual_pause(nodes: Sequence[TopicNode], messages: Sequence[Message]) -> float | None:
    """Median pause between bursts. Inside a burst there is none: it would make every burst's
    end a silence."""
    gaps = [
        gap
        for previous, following in pairwise(nodes)
        if previous.burst_id != following.burst_id
        and (gap := _gap(previous, following, messages)) is not None
    ]
    return median(gaps) if gaps else None


def pet_names(messages: Sequence[Message], config: LayersConfig) -> tuple[str, ...]:
    """Those of the settings, else the known ones that the partner uses as the chat begins."""
    if config.pet_names:
        return config.pet_names
    first = messages[: max(len(messages) // FIRST_PART, 1)] if messages else ()
    partner = [message for message in first if message.speaker != messages[0].speaker]
    return tuple(
        name for name in lexicon("address") if any(_addresses(message, name) for message in partner)
    )


def baseline(rows: Sequence[NodeSignals], measure: str, deviations: float) -> Baseline:
    """Mean and sample deviation over the nodes that have a value."""
    values = [value for row in rows if (value := row.values[measure]) is not None]
    if measure == "silence_event" or not values:
        return Baseline(measure, len(values), None, None, None)
    middle = mean(values)
    try:
        deviation = stdev(values)
    except StatisticsError:  # one value has no deviation
        return Baseline(measure, len(values), middle, None, None)
    return Baseline(measure, len(values), middle, deviation, middle + deviations * deviation)


def anchors(rows: Sequence[NodeSignals], baselines: Sequence[Baseline]) -> list[Anchor]:
    """Values above their threshold, and every silence."""
    outliers = []
    for line in baselines:
        for row in rows:
            value = row.values[line.measure]
            if value is not None and _stands_out(value, line):
                outliers.append(Anchor(row.node_id, MEASURES[line.measure], line.measure, value))
    return outliers


def _stands_out(value: float, line: Baseline) -> bool:
    if line.measure == "silence_event":
        return value == 1.0
    return line.threshold is not None and bool(line.deviation) and value > line.threshold


def _delays(own: Sequence[Message]) -> dict[str, Measured]:
    delays = reply_delays(own)
    if isinstance(delays, dict):
        return {"reply_delay_avg": (None, delays), "reply_delay_max": (None, delays)}
    return {"reply_delay_avg": (mean(delays), None), "reply_delay_max": (max(delays), None)}


def _rated(rating: Rating) -> dict[str, Measured]:
    return {
        "emotional_tone": (rating.tone, rating.reason),
        "conflict_intensity": (rating.conflict, rating.reason),
    }


def _row(node: TopicNode, measured: Mapping[str, Measured]) -> NodeSignals:
    return NodeSignals(
        node.node_id,
        {name: None if value is None else round(value, 6) for name, (value, _) in measured.items()},
        {name: reason for name, (_, reason) in measured.items() if reason is not None},
    )


def _earlier(node: TopicNode, before: Sequence[TopicNode]) -> int:
    name = node.topic_name.casefold()
    return sum(other.topic_name.casefold() == name for other in before)


def _gap(node: TopicNode, following: TopicNode, messages: Sequence[Message]) -> float | None:
    last, first = messages[node.end_local_id - 1], messages[following.start_local_id - 1]
    return seconds_between(last, first)


def _calls(message: Message, names: Sequence[str]) -> bool:
    words = "|".join(map(re.escape, names))
    return bool(re.search(rf"(?<!\w)(?:{words})(?!\w)", message.content, re.I))


def _addresses(message: Message, name: str) -> bool:
    """As a form of address: set off from the sentence, at its start or its end."""
    word = re.escape(name)
    begins = rf"(?:^|[.!?]\s+)(?:(?:hey|hi|hello|oh|thanks|thank you|yes|no)[ ,]+)?{word}\s*[,!.?]"
    ends = rf",\s*{word}\s*(?:[,.!?]|$)|\b(?:hey|hi|hello|thanks|my)\s+{word}\s*(?:[,.!?]|$)"
    return bool(re.search(f"{begins}|{ends}", message.content, re.I | re.M))
