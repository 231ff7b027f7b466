"""L2: topics that belong together across the conversation."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from pipelines.memory.layers.config import LayersConfig
from pipelines.memory.layers.nodes import Link, Thread, Threads, TopicNode
from pipelines.memory.layers.segmentation import DECIMALS
from pipelines.memory.layers.topics import node_vectors
from pipelines.types import Encoder, Message, Vectors


def local_threads(
    nodes: Sequence[TopicNode],
    messages: Sequence[Message],
    *,
    encoder: Encoder,
    config: LayersConfig,
) -> Threads:
    """Links between nodes that are each among the most similar of the other."""
    vectors = node_vectors(nodes, messages, encoder)
    links = similar_pairs(
        nodes, vectors, least=config.link_similarity, neighbours=config.neighbours
    )
    return Threads(tuple(links), tuple(closure(nodes, links)))


def similar_pairs(
    nodes: Sequence[TopicNode], vectors: Vectors, *, least: float, neighbours: int
) -> list[Link]:
    """Earlier → later. One-sided similarity would link a node that resembles many to all."""
    if len(nodes) < 2:
        return []
    alike = (vectors @ vectors.T).round(DECIMALS)
    np.fill_diagonal(alike, -1.0)
    nearest = [set(row[:neighbours].tolist()) for row in (-alike).argsort(axis=1, kind="stable")]
    return [
        Link(nodes[first].node_id, nodes[second].node_id, round(float(alike[first, second]), 4))
        for first in range(len(nodes))
        for second in range(first + 1, len(nodes))
        if alike[first, second] >= least and second in nearest[first] and first in nearest[second]
    ]


def closure(nodes: Sequence[TopicNode], links: Iterable[Link]) -> list[Thread]:
    """Nodes linked in either direction, directly or through others, are one thread."""
    group = {node.node_id: node.node_id for node in nodes}

    def root(node_id: str) -> str:
        while group[node_id] != node_id:
            node_id = group[node_id]
        return node_id

    for link in links:
        first, second = sorted((root(link.earlier), root(link.later)))
        group[second] = first
    members: dict[str, list[TopicNode]] = {}
    for node in nodes:
        members.setdefault(root(node.node_id), []).append(node)
    together = [row for row in members.values() if len(row) > 1]
    return [_thread(number, row) for number, row in enumerate(together, start=1)]


def _thread(number: int, members: Sequence[TopicNode]) -> Thread:
    longest = max(members, key=lambda node: len(node.all_message_ids))  # the first of equals
    return Thread(
        thread_id=f"S{number:02d}",
        title=longest.topic_name,
        node_ids=tuple(node.node_id for node in members),
    )
