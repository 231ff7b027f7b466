"""L1: bursts, their topics, and what the topics are called."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from pipelines.errors import Fact, fact
from pipelines.memory.layers.config import LayersConfig
from pipelines.memory.layers.nodes import TopicNode, Topics
from pipelines.memory.layers.segmentation import DECIMALS, segment
from pipelines.memory.layers.words import content_words, rarity, stems
from pipelines.memory.text import spoken, stem
from pipelines.memory.times import NO_TIMES, Burst, any_times, bursts
from pipelines.types import Encoder, Message, Vectors

UNNAMED = "small talk"
"""For a node without any word that tells a subject."""
TERMS = 5
NAME_TERMS = 3


def local_topics(messages: Sequence[Message], *, encoder: Encoder, config: LayersConfig) -> Topics:
    """Topics by lexical cohesion and sentence vectors, named by their key terms."""
    cut = bursts(messages, gap_seconds=config.burst_gap_seconds)
    vectors = [message_vectors(burst, encoder) for burst in cut]
    parts = segment(cut, vectors, config)
    flat = [(number, part) for number, row in enumerate(parts, start=1) for part in row]
    nodes = make_nodes(flat, key_terms([part for _, part in flat]))
    named = name_topics(nodes, node_vectors(nodes, messages, encoder), same=config.same_topic)
    return Topics(tuple(named), len(cut), reason_of(messages))


def reason_of(messages: Sequence[Message]) -> Fact | None:
    if not messages:
        return fact("memory.no_message")
    return None if any_times(messages) else NO_TIMES


def message_vectors(burst: Sequence[Message], encoder: Encoder) -> Vectors:
    return encoder.encode([message.content for message in burst])


def make_nodes(
    parts: Sequence[tuple[int, Burst]], terms: Sequence[tuple[str, ...]]
) -> list[TopicNode]:
    return [
        TopicNode(
            node_id=f"T{number:03d}",
            burst_id=burst_id,
            topic_name=", ".join(words[:NAME_TERMS]) or UNNAMED,
            all_message_ids=tuple(message.index + 1 for message in part),
            terms=words,
            start_time=part[0].time,
            end_time=part[-1].time,
        )
        for number, ((burst_id, part), words) in enumerate(zip(parts, terms, strict=True), start=1)
    ]


def key_terms(parts: Sequence[Burst]) -> list[tuple[str, ...]]:
    """Per part, the words that are frequent in it and rare in the others, as most often spelled."""
    texts = [
        [word for message in part for word in stems(spoken(message.content))] for part in parts
    ]
    rare = rarity(texts)
    return [
        _spelled(_most_telling(Counter(text), rare), part)
        for part, text in zip(parts, texts, strict=True)
    ]


def node_vectors(
    nodes: Sequence[TopicNode], messages: Sequence[Message], encoder: Encoder
) -> Vectors:
    """Mean of a node's messages, less what is common to the whole conversation.

    Every message of the node counts, not only the first that fit into an encoder. Without taking
    the common part out, all nodes of a chat are similar. A single node is left as it is.
    """
    if not nodes:
        return np.empty((0, 0), dtype=np.float32)
    rows = np.stack(
        [
            message_vectors([messages[local - 1] for local in node.all_message_ids], encoder)
            .astype(np.float64)
            .mean(axis=0)
            for node in nodes
        ]
    )
    apart = rows - rows.mean(axis=0) if len(rows) > 1 else rows
    lengths = np.linalg.norm(apart, axis=1, keepdims=True)
    unit: Vectors = np.divide(apart, lengths, out=np.zeros_like(apart), where=lengths > 0).round(
        DECIMALS
    )
    return unit


def name_topics(nodes: Sequence[TopicNode], vectors: Vectors, *, same: float) -> list[TopicNode]:
    """A topic that returns keeps its name; a new one may not take a name that is in use."""
    named: list[TopicNode] = []
    for at, node in enumerate(nodes):
        parent = _same_topic(at, vectors, same)
        if parent is not None:
            earlier = named[parent]
            node = replace(
                node, topic_name=earlier.topic_name, parent_node_id=_latest(named, earlier)
            )
        else:
            node = replace(node, topic_name=_unused_name(node, named))
        named.append(node)
    return named


def _same_topic(at: int, vectors: Vectors, same: float) -> int | None:
    if at == 0:
        return None
    alike = (vectors[:at] @ vectors[at]).round(DECIMALS)
    best = int(alike.argmax())
    return best if float(alike[best]) >= same else None


def _latest(named: Sequence[TopicNode], earlier: TopicNode) -> str:
    return next(node.node_id for node in reversed(named) if node.topic_name == earlier.topic_name)


def _unused_name(node: TopicNode, named: Sequence[TopicNode]) -> str:
    """With more terms if need be: two subjects of the same name would count as one."""
    used = {other.topic_name for other in named}
    names = [", ".join(node.terms[:count]) for count in range(NAME_TERMS, TERMS + 1)]
    return next((name for name in names if name and name not in used), names[-1] or UNNAMED)


def _most_telling(counts: Counter[str], rare: dict[str, float]) -> list[str]:
    return sorted(counts, key=lambda word: (-counts[word] * rare[word], word))[:TERMS]


def _spelled(stems: Sequence[str], part: Burst) -> tuple[str, ...]:
    spellings: dict[str, Counter[str]] = {}
    for message in part:
        for word in content_words(spoken(message.content)):
            spellings.setdefault(stem(word.lower()), Counter())[word] += 1
    return tuple(
        min(
            spellings[word],
            key=lambda spelling: (-spellings[word][spelling], spelling[0].isupper(), spelling),
        )
        for word in stems
    )
