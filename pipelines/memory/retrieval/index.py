"""A conversation prepared for questions, and the features of its messages as evidence.

For each question a message has one row, with a column for each feature.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from pipelines.memory.conversations import left_out
from pipelines.memory.retrieval import late, lexical, question, ranker, speakers
from pipelines.memory.retrieval.late import Encoded
from pipelines.memory.retrieval.lexical import Lexical
from pipelines.memory.retrieval.question import Asked
from pipelines.memory.retrieval.ranker import Ranker
from pipelines.memory.text import words
from pipelines.memory.times import days_of, span_of
from pipelines.types import Encoder, Message, Store

Floats = NDArray[np.float64]
FEEDBACK = 5  # top messages assumed to be evidence when looking for similar ones
NO_LIKENESS = -1.0  # the least that a cosine can be
SPEAKER = 1.0  # added to a fused score if the person asked about wrote the message

_CUES = {
    "question": re.compile(r"\?"),
    "number": re.compile(
        r"\d|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|once|twice|couple|few|several)\b",
        re.I,
    ),
    "time": re.compile(
        r"\b(?:today|tonight|yesterday|tomorrow|last|next|ago|since|week|weekend|month|year|summer|"
        r"winter|spring|fall|morning|evening|night|now|just|(?:mon|tues|wednes|thurs|fri|satur|sun)day|"
        r"january|february|march|april|june|july|august|september|october|november|december)s?\b",
        re.I,
    ),
    "place": re.compile(r"\b(?:in|at|to|from|near) (?:the )?[A-Z][a-z]+"),
    "self": re.compile(r"\b(?:i|i'm|im|my|me|we|our|i've|i'll|id|ive)\b", re.I),
    "you": re.compile(r"\b(?:you|your|u|ur)\b", re.I),
    "greeting": re.compile(r"^\W*(?:hi|hey|hello|good (?:morning|evening)|thank|haha|lol)\b", re.I),
    "list": re.compile(r",[^,]{2,40},|, and |\n[•\-\d]"),
}  # fmt: skip
_PAIRS = (("when", "time"), ("where", "place"), ("several", "list"), ("how_many", "number"))
METHODS = {"dense": "dense", "late": "late", "fusion": "fused", "learned": ""}
"""And what each is among the single scores."""
NAMED = 2.0  # deviations added in a single ranking to messages by the person asked about


@dataclass(frozen=True)
class Ranking:
    """Parallel and best first; ``indexes`` are 0-based positions."""

    indexes: tuple[int, ...]
    scores: tuple[float, ...]
    probabilities: tuple[float, ...]
    """Calibrated for ``learned``; for other methods only the order has a meaning."""


class Index(Protocol):
    def rank_by(self, method: str, text: str) -> Ranking: ...


class NothingSaid:
    """The index of a conversation without messages."""

    def rank_by(self, method: str, text: str) -> Ranking:
        return Ranking((), (), ())


class ConversationIndex:
    def __init__(
        self, messages: Sequence[Message], encoder: Encoder, store: Store | None = None
    ) -> None:
        """Of at least one message; vectors, which are expensive, are taken from ``store`` if it has
        them."""
        texts = lexical.texts_of(messages)
        self.messages = tuple(messages)
        self.speakers = speakers.learn(messages)
        stems = lexical.stems_of(texts, self.speakers)
        pairs = zip([[], *stems], stems, strict=False)
        self.lexical = Lexical(stems)
        self.pairs = Lexical([[*before, *own] for before, own in pairs])
        """Each message together with the one before."""
        self.vectors, self.tokens = late.matrices(texts, encoder, store)
        self.days = days_of(messages)
        self.span = span_of(self.days)
        self._encoder = encoder
        self._cues = cues(messages)
        self._left_out = left_out(ranker.WEIGHTS, messages)
        self._ranker: Ranker | None = None

    def with_ranker(self, learned: Ranker) -> ConversationIndex:
        """Ranked by it, and not by the shipped weights that were fitted without this talk."""
        other = copy(self)
        other._ranker = learned
        return other

    def rank_by(self, method: str, text: str) -> Ranking:
        evidence = self.evidence(text)
        if method == "learned":
            learned = self._ranker or ranker.shipped(self._left_out)
            scores = learned.scores(self.features(evidence))
            return _ranking(scores, learned.chances(scores, text))
        alone: Floats = getattr(evidence, METHODS[method])
        scores = scaled(alone) + NAMED * evidence.said_by
        return _ranking(scores, ranker.probabilities(scaled(scores) - 4))

    def evidence(self, text: str) -> Evidence:
        asked = question.read(text, self.speakers, span=self.span)
        return Evidence(self, asked, late.encode_both([asked.first, asked.bare], self._encoder))

    def columns(self, evidence: Evidence) -> dict[str, Floats]:
        return columns(evidence, self._cues)

    def features(self, evidence: Evidence) -> Floats:
        """A row for each message, as the ranker reads them."""
        return np.stack(list(self.columns(evidence).values()), axis=1)


def _ranking(scores: Floats, likely: Floats) -> Ranking:
    order = np.argsort(-scores, kind="stable")
    return Ranking(
        indexes=tuple(order.tolist()),
        scores=tuple(scores[order].tolist()),
        probabilities=tuple(likely[order].tolist()),
    )


# --- features -----------------------------------------------------------------------------------


class Evidence:
    """The single scores of all messages for one question."""

    def __init__(self, index: ConversationIndex, asked: Asked, encoded: dict[str, Encoded]) -> None:
        self.index, self.asked, self._encoded = index, asked, encoded
        self.size = len(index.messages)

    @cached_property
    def lexical(self) -> Floats:
        return self.index.lexical.score(self.asked.stems)

    def _dense(self, wording: str) -> Floats:
        cosines: Floats = (self.index.vectors @ self._encoded[wording].sentence).astype(np.float64)
        return cosines

    @cached_property
    def dense(self) -> Floats:
        """In the first person."""
        return self._dense(self.asked.first)

    @cached_property
    def dense_bare(self) -> Floats:
        return self._dense(self.asked.bare)

    @cached_property
    def _near(self) -> Floats:
        return self.index.tokens.nearest(self._encoded[self.asked.first].tokens.vectors)

    @cached_property
    def late(self) -> Floats:
        """Each word of the question in the first person by its nearest in the message."""
        nearest: Floats = self._near.mean(axis=1)
        return nearest

    @cached_property
    def late_bare(self) -> tuple[Floats, Floats, Floats]:
        """The same without names: all words alike, by their rarity, and the nearest single one."""
        tokens = self._encoded[self.asked.bare].tokens
        near, weights = self.index.tokens.nearest(tokens.vectors), self.index.tokens.weights
        rarity = weights(tokens.pieces)
        rare = near @ rarity / max(float(rarity.sum()), 1e-9)
        return near.mean(axis=1), rare, (near * rarity).max(axis=1)

    def late_beside(self, by: int) -> Floats:
        """Words of the question may also be in a message beside: answers are brief."""
        beside = shifted(self._near, by, beyond=NO_LIKENESS)
        nearest: Floats = np.maximum(self._near, beside).mean(axis=1)
        return nearest

    @cached_property
    def said_by(self) -> Floats:
        """1 for messages by the person asked about, else 0; ½ if both or nobody is named."""
        about = self.asked.about
        if len(about) != 1:
            return np.full(self.size, 0.5)
        return np.array([float(message.speaker == about[0]) for message in self.index.messages])

    @cached_property
    def fused(self) -> Floats:
        parts = scaled(self.lexical) + scaled(self.dense) + scaled(self.dense_bare)
        total: Floats = (parts + 1.5 * scaled(self.late)) / 4 + SPEAKER * self.said_by
        return total


def scaled(scores: Floats) -> Floats:
    """Mean 0 and deviation 1 over the conversation; 0 everywhere if all are equal."""
    spread = float(scores.std())
    return (scores - scores.mean()) / spread if spread > 1e-9 else np.zeros_like(scores)


def shifted(scores: Floats, by: int, *, beyond: float = 0.0) -> Floats:
    """The score of ``by`` messages earlier (negative: later); ``beyond`` past the ends."""
    moved = np.full_like(scores, beyond)
    if abs(by) < len(scores):
        if by > 0:
            moved[by:] = scores[:-by]
        else:
            moved[:by] = scores[-by:]
    return moved


def cues(messages: Sequence[Message]) -> dict[str, Floats]:
    """What no question changes."""
    texts = [message.content for message in messages]
    columns = {
        name: np.array([float(bool(cue.search(text))) for text in texts])
        for name, cue in _CUES.items()
    }
    columns["length"] = np.array([float(np.log1p(len(words(text)))) for text in texts])
    return columns


def columns(evidence: Evidence, shape: dict[str, Floats]) -> dict[str, Floats]:
    """Every feature by name, in the order in which the ranker reads them."""
    asked, said_by, late = evidence.asked, evidence.said_by, scaled(evidence.late)
    bare, rare, strong = map(scaled, evidence.late_bare)
    other = float(len(asked.about) == 1) * (1 - said_by)
    return {
        "lexical": scaled(evidence.lexical),
        "covered": evidence.index.lexical.covered(asked.stems),
        "lexical in pairs": scaled(evidence.index.pairs.score(asked.stems)),
        "covered in pairs": evidence.index.pairs.covered(asked.stems),
        "dense": scaled(evidence.dense),
        "dense bare": scaled(evidence.dense_bare),
        "late": late,
        "late bare": bare,
        "late rare": rare,
        "late of one": strong,
        "late, before": scaled(evidence.late_beside(1)),
        "late, after": scaled(evidence.late_beside(-1)),
        "late of the next": shifted(late, -1),
        "said by": said_by,
        "said to": other * shape["you"],
        "said by the other × late": other * late,
        "answers": shifted(shape["question"], 1) * shifted(rare, 1),
        "has question": shape["question"],
        "has length": shape["length"],
        "has self": shape["self"],
        "has greeting": shape["greeting"],
        "near the day": _on_days(evidence),
        **_feedback(evidence),
        **{f"{kind} × {cue}": float(kind in asked.kinds) * shape[cue] for kind, cue in _PAIRS},
    }


def _feedback(evidence: Evidence) -> dict[str, Floats]:
    """Likeness to the best messages, and nearness: lists come bit by bit."""
    best = np.argsort(-evidence.fused, kind="stable")[:FEEDBACK]
    vectors = evidence.index.vectors
    near = (vectors @ vectors[best].T).astype(np.float64)
    near[best, np.arange(len(best))] = 0.0  # not itself
    distance = np.abs(np.arange(evidence.size)[:, None] - best[None, :])
    return {
        "like the best": scaled(near.mean(axis=1)),
        "near one of the best": np.exp(-distance.min(axis=1) / 3.0),
    }


def _on_days(evidence: Evidence) -> Floats:
    """0 everywhere if no day is named, or one before or after the conversation."""
    days, known = evidence.asked.days, evidence.index.days
    return np.array([float(days is not None and days.hold(day, slack=1)) for day in known])
