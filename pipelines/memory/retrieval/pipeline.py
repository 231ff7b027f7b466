"""``retrieval``: a ranking method alone, with its first messages as the answer."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from pydantic import Field

from labeling.domain.encoding import network
from pipelines.fingerprint import fingerprint
from pipelines.memory.conversations import LastUsed
from pipelines.memory.retrieval.floors import BudgetConfig, answer_of
from pipelines.memory.retrieval.index import ConversationIndex
from pipelines.trained_on import SOURCES
from pipelines.types import Case, Config, Encoder, Message, Output, Store

METHODS = {
    "lexical": "lexical",
    "semantic": "dense",
    "hybrid": "fusion",
    "late": "late",
    "learned": "learned",
}
"""Mode → what the index calls it."""
RANKED = 200
FOLDER = Path(__file__).parent.parent
"""Days, times and floors are read by modules outside this package, which affect results, too."""


class RetrievalConfig(BudgetConfig):
    mode: Literal["lexical", "semantic", "hybrid", "late", "learned"] = Field(
        default="hybrid", description="How messages are ranked."
    )


class Retrieval:
    name = "retrieval"

    def __init__(self, config: RetrievalConfig, encoder: Encoder, store: Store | None) -> None:
        self.config: Config = config.model_dump(mode="json")
        self._method, self._budget = METHODS[config.mode], config.budget
        self._encoder, self._store = encoder, store
        self._open: LastUsed[ConversationIndex] = LastUsed()

    @property
    def version(self) -> str:
        return f"1+{fingerprint(FOLDER, network.SOURCE, *SOURCES)}"

    def prepare(self, case: Case) -> None:
        if case.messages:
            self._opened(case.messages)

    def run(self, case: Case) -> Output:
        if not case.messages:
            return answer_of([], ranked=[])
        index = self._opened(case.messages)
        ranking = index.rank_by(self._method, case.question or "", limit=max(RANKED, self._budget))
        return answer_of(
            ranking.indexes[: self._budget], ranked=ranking.indexes, scores=ranking.scores
        )

    def _opened(self, messages: Sequence[Message]) -> ConversationIndex:
        return self._open.get(messages, lambda: self._index(messages))

    def _index(self, messages: Sequence[Message]) -> ConversationIndex:
        return ConversationIndex.build(
            messages,
            encoder=self._encoder,
            store=self._store,
            by_words=self._method == "lexical",
        )
