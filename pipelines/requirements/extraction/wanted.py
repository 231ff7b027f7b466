"""How likely a reader lists a candidate: one logistic model on what it means and a few flags."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pipelines.requirements.extraction.candidates import says_how, stands_alone
from pipelines.requirements.extraction.features import NAMES
from pipelines.requirements.extraction.state import Candidate
from pipelines.types import Encoder

WEIGHTS = Path(__file__).parent.parent / "weights.json"
SAID, ASKED, FLAGS = 2.0, 1.0, 0.7
"""How much the words, the question and the flags count before anything is learned."""
ANSWER, OPEN = 3.0, "What should the software do?"
"""How much an answer counts for its stance; what a sentence answers that nobody asked for."""
Floats = NDArray[np.float64]


def likely(
    candidates: Sequence[Candidate], encoder: Encoder, weights: Floats | None = None
) -> list[float]:
    """By the weights that ship, or by others."""
    if not candidates:
        return []
    return chances(inputs(candidates, encoder), _weights() if weights is None else weights)


def asked_for(candidates: Sequence[Candidate], encoder: Encoder) -> list[float]:
    """How surely the client's words ask for something or agree to it, by their meaning: neither
    refuse nor put off, neither complain nor tell of today's work."""
    if not candidates:
        return []
    pairs = [(each.question, each.answer) for each in candidates]
    return chances(stance_inputs(pairs, encoder), _weights("stance"))


def stance_inputs(pairs: Sequence[tuple[str, str]], encoder: Encoder) -> Floats:
    questions = encoder.encode([question or OPEN for question, _ in pairs])
    answers = encoder.encode([answer for _, answer in pairs])
    return np.hstack([ANSWER * answers, ANSWER / 2 * questions, np.ones((len(pairs), 1))])


def chances(rows: Floats, weights: Floats) -> list[float]:
    totals = np.clip(rows @ weights, -30, 30)
    return [1 / (1 + math.exp(-float(total))) for total in totals]


def inputs(candidates: Sequence[Candidate], encoder: Encoder) -> Floats:
    """A row for each: the words, the question that they answer, flags, and a one."""
    said = encoder.encode([each.said.said for each in candidates])
    asked = encoder.encode([_question(each) for each in candidates])
    flags = [
        [
            *(each.commitment.features.get(name, 0.0) for name in NAMES),
            float(each.said.quoted),
            float(each.commitment.sentence.asked),
            float(each.said.asked),
            float(stands_alone(each)),
            float(says_how(each)),
            min(2.0, len(each.said.said) / 200),
        ]
        for each in candidates
    ]
    ones = np.ones((len(candidates), 1))
    return np.hstack([SAID * said, ASKED * asked, FLAGS * np.array(flags), ones])


def _question(candidate: Candidate) -> str:
    question = candidate.commitment.question
    return (question.text if question else "") or "-"


@cache
def _weights(of: str = "weights") -> Floats:
    stored: dict[str, Any] = json.loads(WEIGHTS.read_text("utf-8"))
    return np.array(stored[of], dtype=np.float64)


def clear() -> None:
    """After other weights were written."""
    _weights.cache_clear()
