"""A conversation prepared for questions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pipelines.memory.conversations import left_out
from pipelines.memory.retrieval import adapter, features, late, question, ranker, views
from pipelines.memory.retrieval.features import Evidence
from pipelines.memory.retrieval.ranker import Ranker
from pipelines.memory.retrieval.views import Views
from pipelines.types import Encoder, Message, Store

Floats = NDArray[np.float64]
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


class ConversationIndex:
    def __init__(
        self, views: Views, encoder: Encoder, learned: Ranker | None = None, *, left_out: str = ""
    ) -> None:
        """Ranked by ``learned``, or by the shipped weights that are fitted without ``left_out``."""
        self.views = views
        self._encoder = encoder
        self._cues = features.cues(views.messages)
        self._ranker, self._left_out = learned, left_out

    @classmethod
    def build(
        cls,
        messages: Sequence[Message],
        *,
        encoder: Encoder,
        store: Store | None = None,
        adapted: bool = True,
    ) -> ConversationIndex:
        """Vectors, which are expensive to compute, are taken from ``store`` if it has them."""
        if not messages:
            raise ValueError("ConversationIndex.build: there is no message to find")
        used = adapter.suited(encoder, messages) if adapted else encoder
        looked_at = views.look(messages, used, store)
        return cls(looked_at, used, left_out=left_out(ranker.WEIGHTS, messages))

    def with_ranker(self, learned: Ranker) -> ConversationIndex:
        return ConversationIndex(self.views, self._encoder, learned)

    def rank_by(self, method: str, text: str) -> Ranking:
        if method not in METHODS:
            raise ValueError(f"There is no method “{method}”. Known are: {', '.join(METHODS)}.")
        evidence = self.evidence(text)
        if method == "learned":
            learned = self._ranker or ranker.shipped(self._left_out)
            scores = learned.scores(self.features(evidence))
            return _ranking(scores, learned.chances(scores, text))
        alone: Floats = getattr(evidence, METHODS[method])
        scores = features.scaled(alone) + NAMED * evidence.said_by
        return _ranking(scores, ranker.probabilities(features.scaled(scores) - 4))

    def evidence(self, text: str) -> Evidence:
        asked = question.read(text, self.views.speakers, span=self.views.span)
        return Evidence(
            self.views, asked, late.encode_both([asked.first, asked.bare], self._encoder)
        )

    def columns(self, evidence: Evidence) -> dict[str, Floats]:
        return features.columns(evidence, self._cues)

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
