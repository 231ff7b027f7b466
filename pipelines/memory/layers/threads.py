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
    """Nodes linked in either direction, directly or through others, are one thread, called after
    its longest topic."""
    groups = {node.node_id: [node] for node in nodes}
    for link in links:
        one, other = groups[link.earlier], groups[link.later]
        if one is not other:
            one += other
            groups |= dict.fromkeys((node.node_id for node in other), one)
    order = {node.node_id: at for at, node in enumerate(nodes)}
    threads: list[Thread] = []
    for node in nodes:
        together = sorted(groups[node.node_id], key=lambda one: order[one.node_id])
        if together[0] is node and len(together) > 1:
            longest = max(together, key=lambda one: len(one.all_message_ids))
            ids = tuple(one.node_id for one in together)
            threads.append(Thread(f"S{len(threads) + 1:02d}", longest.topic_name, ids))
    return threads
