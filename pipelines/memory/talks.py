"""Builds a conversation for questions, once, and caches those used last."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from pipelines.memory.conversations import LastUsed, left_out
from pipelines.memory.layers.build import KeptInMemory, Rows, build_layers
from pipelines.memory.layers.config import LayersConfig
from pipelines.memory.layers.nodes import Layers
from pipelines.memory.query import evidence
from pipelines.memory.query.talk import Node, Talk
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
        store: Store | None = None,
        rows_for: RowsFor | None = None,
        layers: LayersConfig | None = None,
    ) -> None:
        self._encoder = encoder
        self._store = store
        self._rows_for = rows_for
        self._layers = layers or LayersConfig()
        self._open: LastUsed[Talk] = LastUsed()

    def __call__(self, case: Case) -> Talk:
        return self._open.get(case.messages, lambda: self._build(case))

    def _build(self, case: Case) -> Talk:
        if not case.messages:
            return Talk((), NothingSaid())
        rows = self._rows_for(case) if self._rows_for else KeptInMemory()
        layers = build_layers(case.messages, encoder=self._encoder, rows=rows, config=self._layers)
        index = ConversationIndex.build(case.messages, encoder=self._encoder, store=self._store)
        speakers = index.views.speakers
        people = {speaker: tuple(sorted(names)) for speaker, names in speakers.names.items()}
        return Talk(
            case.messages,
            index,
            nodes_of(layers),
            people,
            speakers.about,
            index.views.vectors[1],
            left_out(evidence.WEIGHTS, case.messages),
        )


class NothingSaid:
    """The index of a conversation without messages."""

    def rank_all(self, texts: Sequence[str], *, limit: int | None = None) -> list[Ranking]:
        return [Ranking((), (), ()) for _ in texts]


def nodes_of(layers: Layers) -> list[Node]:
    return [
        Node(
            node_id=node.node_id,
            topic=node.topic_name,
            all_message_ids=node.all_message_ids,
            anchors=layers.anchors_of.get(node.node_id, frozenset()),
            linked=layers.linked_to.get(node.node_id, ()),
        )
        for node in layers.topics.nodes
    ]
