"""A conversation prepared for questions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pipelines.memory.conversations import left_out
from pipelines.memory.retrieval import adapter, features, question, ranker, views
from pipelines.memory.retrieval.features import Evidence, Wordings
from pipelines.memory.retrieval.ranker import Ranker
from pipelines.memory.retrieval.views import Views
from pipelines.types import Encoder, Message, Store

Floats = NDArray[np.float64]
METHODS = ("lexical", "dense", "windows", "late", "fusion", "learned")
NAMED = 2.0  # deviations added in a single ranking to messages by the person asked about


@dataclass(frozen=True)
class Ranking:
    """Parallel and best first; ``indexes`` are 0-based positions."""

    indexes: tuple[int, ...]
    scores: tuple[float, ...]
    probabilities: tuple[float, ...]
    """Calibrated for ``learned``; for other methods only the order has a meaning."""


class ConversationIndex:
    def __init__(self, views: Views, encoder: Encoder, learned: Ranker | None = None) -> None:
        self.views = views
        self._encoder = encoder
        self._cues = features.cues(views)
        self._ranker = learned

    @classmethod
    def build(
        cls,
        messages: Sequence[Message],
        *,
        encoder: Encoder,
        store: Store | None = None,
        by_words: bool = False,
    ) -> ConversationIndex:
        """Vectors, which are expensive to compute, are taken from ``store`` if it has them.

        An index ``by_words`` computes them only when a method needs more than words.
        """
        if not messages:
            raise ValueError("ConversationIndex.build: there is no message to find")
        suited = adapter.suited(encoder, messages)
        looked_at = views.look(messages, suited, store)
        if not by_words:
            looked_at.encoded()
        return cls(looked_at, suited, ranker.shipped(left_out(ranker.WEIGHTS, messages)))

    def with_ranker(self, learned: Ranker) -> ConversationIndex:
        return ConversationIndex(self.views, self._encoder, learned)

    def rank(self, text: str, *, limit: int | None = None) -> Ranking:
        return self.rank_by("learned", text, limit=limit)

    def rank_all(self, texts: Sequence[str], *, limit: int | None = None) -> list[Ranking]:
        """Each of them by ``learned``; encoding them together costs less."""
        return [self._learned(evidence, limit) for evidence in self._evidence(texts)]

    def rank_by(self, method: str, text: str, *, limit: int | None = None) -> Ranking:
        if method not in METHODS:
            raise ValueError(f"There is no method “{method}”. Known are: {', '.join(METHODS)}.")
        evidence = self.evidence(text)
        if method == "learned":
            return self._learned(evidence, limit)
        scores = _scores(method, evidence)
        return _ranking(scores, ranker.probabilities(features.scaled(scores) - 4), limit)

    def evidence(self, text: str) -> Evidence:
        (evidence,) = self._evidence([text])
        return evidence

    def _evidence(self, texts: Sequence[str]) -> list[Evidence]:
        views = self.views
        asked = [question.read(text, views.speakers, span=views.span) for text in texts]
        wordings = Wordings(views, asked, self._encoder)
        return [Evidence(views, reading, wordings) for reading in asked]

    def columns(self, evidence: Evidence) -> dict[str, Floats]:
        return features.columns(evidence, self._cues)

    def _learned(self, evidence: Evidence, limit: int | None) -> Ranking:
        margins = (self._ranker or ranker.shipped()).margins(self.columns(evidence))
        return _ranking(margins, ranker.probabilities(margins), limit)


def _scores(method: str, evidence: Evidence) -> Floats:
    if method == "lexical":  # as BM25 has it, to be measured against
        return evidence.lexical
    return features.scaled(_alike(method, evidence)) + NAMED * evidence.said_by


def _alike(method: str, evidence: Evidence) -> Floats:
    if method == "dense":
        return evidence.dense[:, 1]
    if method == "windows":
        scores: Floats = np.mean(
            [features.scaled(window) for window in evidence.windows.values()], axis=0
        )
        return scores
    return evidence.late[:, 0] if method == "late" else evidence.fused


def _ranking(scores: Floats, likely: Floats, limit: int | None) -> Ranking:
    order = np.argsort(-scores, kind="stable")[:limit]
    return Ranking(
        indexes=tuple(order.tolist()),
        scores=tuple(scores[order].tolist()),
        probabilities=tuple(likely[order].tolist()),
    )
