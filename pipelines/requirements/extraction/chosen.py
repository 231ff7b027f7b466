"""Whether a reader could use what was put down: a logistic model of how it stands and reads.

Fitted by :mod:`pipelines.requirements.train` on how near each comes to a written requirement.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from pipelines.requirements.extraction.marks import MARKS, NOTHING, Floats, stored
from pipelines.requirements.extraction.state import Commitment
from pipelines.requirements.text import tokens
from pipelines.types import Encoder

TEXT, QUESTION = 1.0, 0.5
"""How much the vectors count before anything is learned."""
KINDS = ("own", "answer", "offer", "summary")
SHAPES = (
    *("need", "wish", "whose", "so", "thing", "supposed", "asks", "letting", "first", "ban"),
    *("order", "rule", "told", "offer", "summary", "limit", "answer", "asked"),
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


def likely(found: Sequence[Commitment], encoder: Encoder, weights: Floats) -> list[float]:
    if not found:
        return []
    totals = np.clip(inputs(found, encoder) @ weights, -30, 30)
    return [float(chance) for chance in 1 / (1 + np.exp(-totals))]


def inputs(found: Sequence[Commitment], encoder: Encoder) -> Floats:
    text = encoder.encode([each.text for each in found])
    asked = encoder.encode([_question(each) for each in found])
    flags = np.array([_flags(each) for each in found])
    return np.hstack([TEXT * text, QUESTION * asked, flags, np.ones((len(found), 1))])


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
