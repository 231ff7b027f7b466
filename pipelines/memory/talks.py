"""Makes a conversation ready for questions, once, and keeps those used last."""

from __future__ import annotations

from collections.abc import Callable

from pipelines.memory.config import MemoryConfig
from pipelines.memory.conversations import LastUsed, left_out
from pipelines.memory.layers.build import KeptInMemory, Rows, build_layers
from pipelines.memory.layers.config import LayersConfig
from pipelines.memory.query.talk import Talk
from pipelines.memory.retrieval import ranker
from pipelines.memory.retrieval.index import ConversationIndex, Ranking
from pipelines.types import Case, Encoder, Store

RowsFor = Callable[[Case], Rows]
"""Where the built layers of a case's conversation are kept."""


class Talks:
    """Opens the conversation of a case; ``store`` and ``rows_for`` keep expensive parts."""

    def __init__(
        self,
        encoder: Encoder,
        *,
        config: MemoryConfig | None = None,
        store: Store | None = None,
        rows_for: RowsFor | None = None,
    ) -> None:
        self._encoder, self._store, self._rows_for = encoder, store, rows_for
        self._config = config or MemoryConfig()
        self._open: LastUsed[Talk] = LastUsed()

    def __call__(self, case: Case) -> Talk:
        return self._open.get(case.messages, lambda: self._build(case))

    def _build(self, case: Case) -> Talk:
        messages = case.messages
        if not messages:
            return Talk((), NothingSaid())
        layers = None
        if self._config.layers:
            rows = self._rows_for(case) if self._rows_for else KeptInMemory()
            layers = build_layers(messages, encoder=self._encoder, rows=rows, config=LayersConfig())
        adapted = self._config.encoder == "adapted"
        index = ConversationIndex.build(
            messages, encoder=self._encoder, store=self._store, adapted=adapted
        )
        return Talk(messages, index, layers, bool(left_out(ranker.WEIGHTS, messages)))


class NothingSaid:
    """The index of a conversation without messages."""

    def rank_by(self, method: str, text: str, *, limit: int | None = None) -> Ranking:
        return Ranking((), (), ())
