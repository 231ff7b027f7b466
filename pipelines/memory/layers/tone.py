"""Emotional tone and conflict intensity by lexicons."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from statistics import mean
from typing import Any, NamedTuple, cast

from pipelines.errors import Fact, fact
from pipelines.memory.layers.words import lexicon
from pipelines.memory.text import spoken
from pipelines.types import Message

STRONGEST = 3
"""A quarrel shows in several messages; one hard word among many kind ones isn't a quarrel."""
_WORDS = re.compile(r"[^\W\d_]|[\u2600-\u27bf\U0001f300-\U0001faff]")


PIECE = 2_000  # characters


class Rating(NamedTuple):
    tone: float | None
    conflict: float | None
    reason: Fact | None = None


NO_WORDS = fact("memory.no_words")


def local_rating(messages: Sequence[Message]) -> Rating:
    texts = [text for message in messages if _WORDS.search(text := spoken(message.content))]
    if not texts:
        return Rating(None, None, NO_WORDS)
    return Rating(tone_of(texts), conflict_of(texts))


def tone_of(texts: Sequence[str]) -> float:
    """Mean of the messages' valence, -1 to 1, by VADER (Hutto and Gilbert, ICWSM 2014)."""
    return round(mean(map(_valence, texts)), 4)


def _valence(text: str) -> float:
    """Of a long text, the mean of its pieces: VADER takes time with the square of the words."""
    pieces = (text[at : at + PIECE] for at in range(0, len(text), PIECE))
    return float(mean(_analyzer().polarity_scores(piece)["compound"] for piece in pieces))


def conflict_of(texts: Sequence[str]) -> float:
    """Mean of the strongest messages' intensity, 0 to 1."""
    strongest = sorted((message_conflict(text) for text in texts), reverse=True)[:STRONGEST]
    return round(mean(strongest), 4)


def message_conflict(text: str) -> float:
    """1 less the product of (1 - weight) of the wordings in it, each kind counted once."""
    calm = 1.0
    for weight, pattern in _conflict():
        if pattern.search(text.replace("’", "'")):
            calm *= 1 - weight
    return 1 - calm


@cache
def _conflict() -> tuple[tuple[float, re.Pattern[str]], ...]:
    return tuple(
        (
            float(group["weight"]),
            re.compile(rf"(?<!\w)(?:{'|'.join(group['patterns'])})(?!\w)", re.I),
        )
        for group in lexicon("conflict")
    )


@cache
def _analyzer() -> Any:
    from vaderSentiment.vaderSentiment import SentimentIntensityAnalyzer

    return cast(Any, SentimentIntensityAnalyzer())
