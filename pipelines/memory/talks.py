"""Conversations made ready for questions, once; those used last are kept."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import date
from functools import cached_property

from labeling.domain.encoding.kept import LastUsed
from pipelines.memory.config import MemoryConfig
from pipelines.memory.conversations import SIZE, key_of, left_out
from pipelines.memory.dates import Days
from pipelines.memory.layers.build import KeptInMemory, Rows, build_layers
from pipelines.memory.layers.config import LayersConfig
from pipelines.memory.layers.nodes import Layers, TopicNode
from pipelines.memory.retrieval import adapter, ranker
from pipelines.memory.retrieval.index import ConversationIndex, Index, NothingSaid
from pipelines.memory.times import days_of, span_of
from pipelines.types import Case, Encoder, Message, Store

RowsFor = Callable[[Case], Rows]
"""Where the built layers of a case's conversation are kept."""


@dataclass(frozen=True)
class Talk:
    messages: Sequence[Message]
    index: Index
    layers: Layers | None = None
    """None: nobody asked for them."""
    held_out: bool = False
    """Whether weights are used that were fitted without this conversation."""

    @property
    def topics(self) -> Sequence[TopicNode]:
        return self.layers.topics.nodes if self.layers else ()

    @cached_property
    def short_names(self) -> dict[str, str]:
        """The speakers by their first letter, where that tells them apart, else by their name."""
        names = dict.fromkeys(message.speaker for message in self.messages)
        letters = {name[:1]: name for name in names}
        return letters if len(letters) == len(names) else {name: name for name in names}

    @cached_property
    def days(self) -> tuple[date | None, ...]:
        return days_of(self.messages)

    @cached_property
    def span(self) -> Days | None:
        return span_of(self.days)


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
        self._open: LastUsed[str, Talk] = LastUsed(SIZE)

    def __call__(self, case: Case) -> Talk:
        return self._open.get(key_of(case.messages), lambda: self._build(case))

    def _build(self, case: Case) -> Talk:
        messages, encoder = case.messages, self._encoder
        if not messages:
            return Talk((), NothingSaid())
        layers = None
        if self._config.layers:
            rows = self._rows_for(case) if self._rows_for else KeptInMemory()
            layers = build_layers(messages, encoder=encoder, rows=rows, config=LayersConfig())
        if self._config.encoder == "adapted":
            encoder = adapter.suited(encoder, messages)
        index = ConversationIndex(messages, encoder, self._store)
        return Talk(messages, index, layers, bool(left_out(ranker.WEIGHTS, messages)))


def local_ids(positions: Iterable[int]) -> list[int]:
    """Positions as users count them: from 1, in the order given."""
    return [position + 1 for position in positions]
