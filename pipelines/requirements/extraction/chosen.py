"""Whether a reader could use what was put down: a logistic model of how it stands and reads.

Fitted by :mod:`benchmarks.train_requirements` on how near each comes to a written requirement.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence

import numpy as np

from pipelines.requirements.extraction.marks import MARKS, NOTHING, Floats, stored
from pipelines.requirements.extraction.state import Commitment, Utterance
from pipelines.requirements.text import tokens
from pipelines.types import Encoder

TEXT, QUESTION = 2.0, 1.0
"""How much the vectors count before anything is learned."""
MOST_AFTER = 20  # sentences
KINDS = ("own", "answer", "offer", "summary")
SHAPES = (
    *("need", "wish", "whose", "so", "thing", "supposed", "asks", "letting", "first", "ban"),
    *("verb", "order", "rule", "told", "offer", "summary", "limit", "answer", "asked"),
)
_READS = tuple(
    re.compile(pattern, re.I)
    for pattern in (
        r"^(?:it|they|that|this|these|those|he|she|them|there)\b(?! (?:should|must) be)",
        r"\b(?:it|they|them|that one|he|she|him|her)\b",
        r"\b(?:i|me|my|mine)\b",
        r"\b(?:we|us|our)\b",
        r"\byou\b",
        r"\b(?:should|must|shall|has to|have to|needs? to)\b",
        r"\b(?:only|never|always|at most|at least)\b",
        r"\b(?:not|no|never|nobody)\b|n't\b",
        r"\b(?:was|were|had|did)\b",
        r"\d",
        r",",
        r",.*,",
        r"[–—…]| - ",
        r"\b(?:if|when|as soon as|unless)\b",
        r"\b(?:would|could|might|maybe|perhaps)\b",
        r"['\"]",
    )
)


def likely(
    found: Sequence[Commitment], spoken: Sequence[Utterance], encoder: Encoder, weights: Floats
) -> list[float]:
    if not found:
        return []
    totals = np.clip(inputs(found, spoken, encoder) @ weights, -30, 30)
    return [float(chance) for chance in 1 / (1 + np.exp(-totals))]


def inputs(found: Sequence[Commitment], spoken: Sequence[Utterance], encoder: Encoder) -> Floats:
    """A row for each: what it says, what was asked, how it stands and reads, what comes after."""
    text = encoder.encode([each.text for each in found])
    asked = encoder.encode([_question(each) for each in found])
    flags = np.array([_flags(each) for each in found])
    taken_up = _taken_up(found, spoken, encoder)
    around = np.array(list(_around(found, spoken)))
    ones = np.ones((len(found), 1))
    return np.hstack([TEXT * text, QUESTION * asked, flags, taken_up, around, ones])


def _taken_up(found: Sequence[Commitment], spoken: Sequence[Utterance], encoder: Encoder) -> Floats:
    """How near the analyst's next words come to it, and the talk as a whole."""
    said = encoder.encode([each.sentence.text for each in found])
    vectors = encoder.encode([each.text for each in spoken])
    asked: dict[int, list[int]] = {}
    for at, one in enumerate(spoken):
        if one.side == "analyst":
            asked.setdefault(one.message, []).append(at)
    middle = vectors.mean(axis=0)
    rows = []
    for own, each in zip(said, found, strict=True):
        last = each.messages[-1]
        soon = [*asked.get(last + 1, ()), *asked.get(last + 2, ())][:MOST_AFTER]
        near = max((float(own @ vectors[at]) for at in soon), default=0.0)
        rows.append([2 * max(near, 0.0), 2 * float(own @ middle)])
    return np.array(rows)


def _around(found: Sequence[Commitment], spoken: Sequence[Utterance]) -> Iterator[list[float]]:
    """The marks of the client's sentences right before and after."""
    own = [one for one in spoken if one.side == "client"]
    places = [one.place for one in own]
    for each in found:
        before = bisect_left(places, each.sentence.place) - 1
        after = bisect_right(places, (each.answer or (each.sentence,))[-1].place)
        beside = (
            own[before] if before >= 0 else _NOBODY,
            own[after] if after < len(own) else _NOBODY,
        )
        yield [one.mark(name) for one in beside for name in MARKS]


_NOBODY = Utterance(-1, "", "client", False)


def _question(each: Commitment) -> str:
    if each.sentence.side == "analyst":
        return each.sentence.text
    return each.sentence.asked.text if each.sentence.asked else NOTHING


def _flags(each: Commitment) -> list[float]:
    said, size = each.answer, len(tokens(each.text))
    analyst = each.sentence.side == "analyst"
    first = [
        one.mark(name) if said else 0.0 for name in MARKS for one in said[:1] or (each.sentence,)
    ]
    most = [max((one.mark(name) for one in said), default=0.0) for name in MARKS]
    return [
        *(float(each.kind == kind) for kind in KINDS),
        *(float(each.shape == shape) for shape in SHAPES),
        *(3 * mark * (not analyst) for mark in first),
        *(3 * mark * analyst for mark in first),
        *(2 * mark * analyst for mark in most),
        4 * each.accepted,
        3 * each.undone,
        float(each.state == "corrected"),
        *(float(bool(reads.search(each.text))) for reads in _READS),
        min(2.0, size / 12),
        float(size < 5),
        float(size > 25),
        float(bool(each.sentence.asked and each.sentence.asked.question)),
    ]


def shipped() -> Floats:
    return np.array(stored()["chosen"], dtype=np.float64)
