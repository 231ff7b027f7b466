"""What a client does with a sentence: a multinomial model of its words, its vector, its question.

Fitted by :mod:`benchmarks.train_requirements` on talks in which every sentence carries its mark.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache
from itertools import groupby, pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pipelines.requirements.extraction.state import Utterance
from pipelines.types import Encoder

Floats = NDArray[np.float64]
WEIGHTS = Path(__file__).parent.parent / "weights.json"
MARKS = ("want", "yes", "no", "later", "undo", "bad", "now", "maybe", "talk")
"""Asks for something; accepts, refuses, puts off what was offered; takes back what was said;
complains; tells how things are; muses; courtesies and talk about the talk."""
NOTHING = "What should the software do?"
"""What a sentence answers that nobody asked for."""
SAID, ASKED, ANSWER, WORDS = 3.0, 1.5, 1.0, 0.7
"""How much each counts before anything is learned."""
FLAGS = tuple(
    re.compile(pattern, re.I)
    for pattern in (
        r"^(?:yes|yeah|yep|ye|yup|sure|ok|okay|fine|of course|correct|exactly|right|absolutely)\b",
        r"^(?:no|nope|nah|never|not|please no)\b",
        r"\b(?:should|shall|must|has to|have to|needs? to|got to|ought)\b",
        r"\b(?:want|wish|like|love|need|prefer|expect)\b",
        r"\b(?:i'd|i would|we'd|we would)\b",
        r"\b(?:no|not|never|nobody|none|nothing)\b|n't\b",
        r"\b(?:was|were|had|did|used to|went|came|tried|\w{3,}ed)\b",
        r"\?$",
        r"\b(?:if|when|unless|until|once)\b",
        r"\b(?:only|at most|at least|always|every)\b",
        r"\b(?:i|my|me)\b",
        r"\b(?:we|us|our)\b",
        r"\b(?:you|your)\b",
        r"\b(?:they|them|their|he|she|his|her)\b",
        r"\b(?:it|that|this)\b",
        r"\d",
        r"\b(?:maybe|perhaps|might|could|would)\b",
        r"\b(?:actually|wait|sorry|scrap|forget|make (?:it|that)|instead|strike|said)\b",
        r"\b(?:today|now|currently|at present|already|still)\b",
        r"\b(?:is|are|has|does|do)\b",
        r"\b(?:because|since|so that)\b",
        r"!$",
        r"\b(?:ask|decides?|later|next year|another|some ?day|budget)\b",
    )
)
QUESTION_FLAGS = tuple(
    re.compile(pattern, re.I)
    for pattern in (
        r"\?$",
        r"^(?:should|shall|would|could|can|do|does|may|might|will|is|are)\b",
        r"\b(?:what|which|how|who|when|where|why)\b",
        r"\bor\b",
        r"\b(?:so|then)\b",
    )
)
_TOKEN = re.compile(r"[\w']+|[?!]")


class Model(NamedTuple):
    vocabulary: dict[str, int]
    weights: Floats
    """A row for each input, a column for each mark."""


def marked(spoken: Sequence[Utterance], encoder: Encoder, model: Model) -> list[Utterance]:
    """The same sentences, the client's with the chances of their marks."""
    own = [each for each in spoken if each.side == "client"]
    if not own:
        return list(spoken)
    likely = iter(chances(inputs(own, encoder, model.vocabulary), model.weights))
    return [
        replace(each, marks=dict(zip(MARKS, map(float, next(likely)), strict=True)))
        if each.side == "client"
        else each
        for each in spoken
    ]


def chances(rows: Floats, weights: Floats) -> Floats:
    totals = rows @ weights
    powers = np.exp(totals - totals.max(axis=1, keepdims=True))
    likely: Floats = powers / powers.sum(axis=1, keepdims=True)
    return likely


def inputs(own: Sequence[Utterance], encoder: Encoder, vocabulary: dict[str, int]) -> Floats:
    """A row for each: the sentence, its question, the answer as a whole, words, flags, a one."""
    said = encoder.encode([each.text for each in own])
    asked = encoder.encode([_question(each) for each in own])
    whole = _answers(own)
    each_once = encoder.encode([text for text, _ in whole])
    answer = np.repeat(each_once, [count for _, count in whole], axis=0)
    words = np.zeros((len(own), len(vocabulary)))
    for at, each in enumerate(own):
        words[at, [vocabulary[gram] for gram in set(grams(each.text)) if gram in vocabulary]] = 1
    flags = np.array([_flags(each) for each in own])
    ones = np.ones((len(own), 1))
    return np.hstack([SAID * said, ASKED * asked, ANSWER * answer, WORDS * words, flags, ones])


def grams(text: str) -> Iterator[str]:
    """Words and pairs of neighbors."""
    found = _TOKEN.findall(text.lower())
    yield from found
    yield from map(" ".join, pairwise(found))


def _question(each: Utterance) -> str:
    return each.asked.text if each.asked else NOTHING


def _answers(own: Sequence[Utterance]) -> list[tuple[str, int]]:
    """Each message of the client, and how many sentences it has."""
    by_message = [
        [each.text for each in turn] for _, turn in groupby(own, key=lambda each: each.message)
    ]
    return [(" ".join(texts), len(texts)) for texts in by_message]


def _flags(each: Utterance) -> list[float]:
    text, question = each.text, _question(each)
    return [
        *(float(bool(flag.search(text))) for flag in FLAGS),
        *(float(bool(flag.search(question))) for flag in QUESTION_FLAGS),
        float(each.at == 0),
        float(each.at == 1),
        float(each.at == each.of - 1),
        float(each.of == 1),
        min(2.0, each.of / 4),
        min(2.0, len(text) / 80),
        float(len(text.split()) < 4),
    ]


@cache
def stored() -> dict[str, Any]:
    weights: dict[str, Any] = json.loads(WEIGHTS.read_text("utf-8"))
    return weights


def shipped() -> Model:
    vocabulary = {gram: at for at, gram in enumerate(stored()["vocabulary"])}
    return Model(vocabulary, np.array(stored()["marks"], dtype=np.float64))
