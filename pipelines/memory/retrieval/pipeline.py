"""``retrieval``: a ranking method alone, with its first messages as the answer."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Literal

import numpy as np

from labeling.domain.encoding import network
from labeling.domain.encoding.kept import LastUsed
from pipelines.fingerprint import fingerprint
from pipelines.memory.conversations import SIZE, key_of
from pipelines.memory.retrieval import adapter
from pipelines.memory.retrieval.floors import BudgetConfig, answer_of, by_words
from pipelines.memory.retrieval.index import ConversationIndex
from pipelines.trained_on import SOURCES
from pipelines.types import Case, Config, Encoder, Message, Output, Store, setting

METHODS = {"semantic": "dense", "hybrid": "fusion", "late": "late", "learned": "learned"}
"""Mode → what the index calls it; ``lexical`` needs no index."""
RANKED = 200
FOLDER = Path(__file__).parent.parent
"""Days, times and floors are read by modules outside this package, which affect results, too."""


class RetrievalConfig(BudgetConfig):
    mode: Literal["lexical", "semantic", "hybrid", "late", "learned"] = setting(
        "hybrid", "How messages are ranked."
    )


class Retrieval:
    name = "retrieval"

    def __init__(self, config: RetrievalConfig, encoder: Encoder, store: Store | None) -> None:
        self.config: Config = config.model_dump(mode="json")
        self._mode, self._budget = config.mode, config.budget
        self._encoder, self._store = encoder, store
        self._open: LastUsed[str, ConversationIndex] = LastUsed(SIZE)

    @property
    def version(self) -> str:
        return f"1+{fingerprint(FOLDER, network.SOURCE, *SOURCES)}"

    def prepare(self, case: Case) -> None:
        if case.messages and self._mode in METHODS:
            self._index(case.messages)

    def run(self, case: Case) -> Output:
        if not case.messages:
            return answer_of([], ranked=[])
        if self._mode not in METHODS:
            every = by_words(case)
            order = np.argsort(-every, kind="stable").tolist()
            scores = every[order].tolist()
        else:
            ranking = self._index(case.messages).rank_by(METHODS[self._mode], case.question or "")
            order, scores = list(ranking.indexes), list(ranking.scores)
        most = max(RANKED, self._budget)
        return answer_of(order[: self._budget], ranked=order[:most], scores=scores[:most])

    def _index(self, messages: Sequence[Message]) -> ConversationIndex:
        def build() -> ConversationIndex:
            encoder = adapter.suited(self._encoder, messages)
            return ConversationIndex(messages, encoder, self._store)

        return self._open.get(key_of(messages), build)
