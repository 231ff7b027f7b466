"""L1.5: how a topic was talked about, and where that is out of the ordinary.

A measure is ``None``, with a reason, where its definition gives no value.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from functools import cache
from itertools import pairwise
from statistics import mean, median, stdev
from typing import Any, cast

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
from pipelines.memory.layers.words import lexicon
from pipelines.memory.text import spoken
from pipelines.memory.times import seconds_between
from pipelines.types import Message

Measured = float | Fact
"""A value, or the reason why there is none."""
FIRST_PART = 5
"""Pet names are usual if they occur in the first fifth of the chat."""
STRONGEST = 3
"""A quarrel shows in several messages; one hard word among many kind ones isn't a quarrel."""
PIECE = 2_000  # characters
ONE_SPEAKER = fact("memory.one_speaker")
NO_TIMES = fact("memory.no_times")
NO_PARTNER = fact("memory.silent_partner")
NO_PET_NAMES = fact("memory.no_pet_names")
LAST = fact("memory.last_node")
NO_PAUSES = fact("memory.no_pauses")
NO_WORDS = fact("memory.no_words")
_WORDS = re.compile(r"[^\W\d_]|[\u2600-\u27bf\U0001f300-\U0001faff]")


def measure_nodes(
    nodes: Sequence[TopicNode],
    messages: Sequence[Message],
    *,
    config: LayersConfig,
) -> Signals:
    """All measures of all nodes; tone and conflict by lexicons."""
    names = pet_names(messages, config)
    gaps = [_gap(one, other, messages) for one, other in pairwise(nodes)]
    pauses = [
        gap
        for (one, other), gap in zip(pairwise(nodes), gaps, strict=True)
        if one.burst_id != other.burst_id and gap is not None
    ]
    # inside a burst there is no pause: it would make every burst's end a silence
    longest = config.silence_factor * median(pauses) if pauses else None
    rows = []
    met: Counter[str] = Counter()
    for at, node in enumerate(nodes):
        own = [messages[local - 1] for local in node.all_message_ids]
        texts = [text for message in own if _WORDS.search(text := spoken(message.content))]
        delays, name = reply_delays(own), node.topic_name.casefold()
        usual, most = (delays, delays) if isinstance(delays, dict) else (mean(delays), max(delays))
        measured: dict[str, Measured] = {
            "reply_delay_avg": usual,
            "reply_delay_max": most,
            "term_shift": term_shift(own, messages, names),
            "silence_event": silence(gaps[at], longest) if at < len(gaps) else LAST,
            "topic_frequency": float(met[name]),
            "initiator_ratio": initiator_ratio(own, messages),
            "emotional_tone": tone_of(texts) if texts else NO_WORDS,
            "conflict_intensity": conflict_of(texts) if texts else NO_WORDS,
        }
        met[name] += 1
        reasons = {key: one for key, one in measured.items() if isinstance(one, dict)}
        figures = {
            key: None if isinstance(one, dict) else round(one, 6) for key, one in measured.items()
        }
        rows.append(NodeSignals(node.node_id, figures, reasons))
    baselines = [baseline(rows, measure, config.anomaly_deviations) for measure in MEASURES]
    return Signals(tuple(rows), tuple(baselines), tuple(anchors(rows, baselines)), names)


def _gap(node: TopicNode, following: TopicNode, messages: Sequence[Message]) -> float | None:
    last, first = messages[node.end_local_id - 1], messages[following.start_local_id - 1]
    return seconds_between(last, first)


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
        return NO_PET_NAMES
    partner = [message for message in own if message.speaker != chat[0].speaker]
    if not partner:
        return NO_PARTNER
    called = re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, names))})(?!\w)", re.I)
    return sum(not called.search(message.content) for message in partner) / len(partner)


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
    return sum(opened) / len(opened) if opened else ONE_SPEAKER


def silence(gap: float | None, longest: float | None) -> Measured:
    """1 if the conversation stops after the node for longer than that."""
    if gap is None:
        return NO_TIMES
    return NO_PAUSES if longest is None else float(gap > longest)


def pet_names(messages: Sequence[Message], config: LayersConfig) -> tuple[str, ...]:
    """Those of the settings, else the known ones that the partner uses as the chat begins."""
    if config.pet_names:
        return config.pet_names
    first = messages[: max(len(messages) // FIRST_PART, 1)] if messages else ()
    partner = [message for message in first if message.speaker != messages[0].speaker]
    return tuple(
        name for name in lexicon("address") if any(_addresses(message, name) for message in partner)
    )


def _addresses(message: Message, name: str) -> bool:
    """As a form of address: set off from the sentence, at its start or its end."""
    word = re.escape(name)
    begins = rf"(?:^|[.!?]\s+)(?:(?:hey|hi|hello|oh|thanks|thank you|yes|no)[ ,]+)?{word}\s*[,!.?]"
    ends = rf",\s*{word}\s*(?:[,.!?]|$)|\b(?:hey|hi|hello|thanks|my)\s+{word}\s*(?:[,.!?]|$)"
    return bool(re.search(f"{begins}|{ends}", message.content, re.I | re.M))


def tone_of(texts: Sequence[str]) -> float:
    """Mean of the messages' valence, -1 to 1, by VADER (Hutto and Gilbert, ICWSM 2014)."""
    return round(mean(map(_valence, texts)), 4)


def _valence(text: str) -> float:
    """Of a long text, the mean of its pieces: VADER takes time with the square of the words."""
    pieces = (text[at : at + PIECE] for at in range(0, len(text), PIECE))
    return float(mean(_analyzer().polarity_scores(piece)["compound"] for piece in pieces))


@cache
def _analyzer() -> Any:
    from vaderSentiment.vaderSentiment import SentimentIntensityAnalyzer

    return cast(Any, SentimentIntensityAnalyzer())


def conflict_of(texts: Sequence[str]) -> float:
    """Mean of the strongest messages' intensity, 0 to 1: 1 less the product of (1 - weight) of
    the wordings in it, each kind counted once."""
    intensities = []
    for text in texts:
        calm = 1.0
        for weight, pattern in _conflict():
            if pattern.search(text.replace("’", "'")):
                calm *= 1 - weight
        intensities.append(1 - calm)
    return round(mean(sorted(intensities, reverse=True)[:STRONGEST]), 4)


@cache
def _conflict() -> tuple[tuple[float, re.Pattern[str]], ...]:
    return tuple(
        (
            float(group["weight"]),
            re.compile(rf"(?<!\w)(?:{'|'.join(group['patterns'])})(?!\w)", re.I),
        )
        for group in lexicon("conflict")
    )


def baseline(rows: Sequence[NodeSignals], measure: str, deviations: float) -> Baseline:
    """Mean and sample deviation over the nodes that have a value; one value has no deviation."""
    values = [value for row in rows if (value := row.values[measure]) is not None]
    if measure == "silence_event" or not values:
        return Baseline(measure, len(values), None, None, None)
    middle, deviation = mean(values), stdev(values) if len(values) > 1 else None
    threshold = None if deviation is None else middle + deviations * deviation
    return Baseline(measure, len(values), middle, deviation, threshold)


def anchors(rows: Sequence[NodeSignals], baselines: Sequence[Baseline]) -> list[Anchor]:
    """Values above their threshold, and every silence."""
    return [
        Anchor(row.node_id, MEASURES[line.measure], line.measure, value)
        for line in baselines
        for row in rows
        if (value := row.values[line.measure]) is not None and _stands_out(value, line)
    ]


def _stands_out(value: float, line: Baseline) -> bool:
    if line.measure == "silence_event":
        return value == 1.0
    return line.threshold is not None and bool(line.deviation) and value > line.threshold
