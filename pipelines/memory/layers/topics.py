"""L1: bursts, their topics, and what the topics are called."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from math import log

import numpy as np

from pipelines.errors import fact
from pipelines.memory.layers.config import LayersConfig
from pipelines.memory.layers.nodes import TopicNode, Topics
from pipelines.memory.layers.segmentation import DECIMALS, segment
from pipelines.memory.layers.words import content_words
from pipelines.memory.text import spoken, stem
from pipelines.memory.times import NO_TIMES, Burst, bursts, days_of
from pipelines.types import Encoder, Message, Vectors

UNNAMED = "small talk"
"""For a node without any word that tells a subject."""
TERMS = 5
NAME_TERMS = 3


def local_topics(messages: Sequence[Message], *, encoder: Encoder, config: LayersConfig) -> Topics:
    """Topics by the cohesion of sentence vectors, named by their key terms."""
    cut = bursts(messages, gap_seconds=config.burst_gap_seconds)
    vectors = [encoder.encode([message.content for message in burst]) for burst in cut]
    parts = segment(cut, vectors, config)
    flat = [(number, part) for number, row in enumerate(parts, start=1) for part in row]
    terms = key_terms([part for _, part in flat])
    nodes = [
        TopicNode(
            node_id=f"T{number:03d}",
            burst_id=burst_id,
            topic_name=", ".join(words[:NAME_TERMS]) or UNNAMED,
            all_message_ids=tuple(message.index + 1 for message in part),
            terms=words,
            start_time=part[0].time,
            end_time=part[-1].time,
        )
        for number, ((burst_id, part), words) in enumerate(zip(flat, terms, strict=True), start=1)
    ]
    named = name_topics(nodes, node_vectors(nodes, messages, encoder), same=config.same_topic)
    reason = None if any(days_of(messages)) else NO_TIMES
    return Topics(tuple(named), len(cut), reason if messages else fact("memory.no_message"))


def key_terms(parts: Sequence[Burst]) -> list[tuple[str, ...]]:
    """Per part, the words that are frequent in it and rare in the others, as most often spelled."""
    spelled = [
        Counter(word for message in part for word in content_words(spoken(message.content)))
        for part in parts
    ]
    counts: list[Counter[str]] = []
    for spellings in spelled:
        stems: Counter[str] = Counter()
        for word, count in spellings.items():
            stems[stem(word.lower())] += count
        counts.append(stems)
    documents = Counter(word for stems in counts for word in stems)
    terms = []
    for spellings, stems in zip(spelled, counts, strict=True):
        best = sorted(stems, key=lambda w: (-stems[w] * log(1 + len(parts) / documents[w]), w))
        terms.append(tuple(_as_spelled(word, spellings) for word in best[:TERMS]))
    return terms


def _as_spelled(stemmed: str, spellings: Counter[str]) -> str:
    known = (word for word in spellings if stem(word.lower()) == stemmed)
    return min(known, key=lambda word: (-spellings[word], word[0].isupper(), word))


def node_vectors(
    nodes: Sequence[TopicNode], messages: Sequence[Message], encoder: Encoder
) -> Vectors:
    """Mean of a node's messages, less what is common to the whole conversation.

    Every message of the node counts, not only the first that fit into an encoder. Without taking
    the common part out, all nodes of a chat are similar. A single node is left as it is.
    """
    if not nodes:
        return np.empty((0, 0), dtype=np.float32)
    texts = ([messages[local - 1].content for local in node.all_message_ids] for node in nodes)
    rows = np.stack([encoder.encode(said).astype(np.float64).mean(axis=0) for said in texts])
    apart = rows - rows.mean(axis=0) if len(rows) > 1 else rows
    lengths = np.linalg.norm(apart, axis=1, keepdims=True)
    unit: Vectors = np.divide(apart, lengths, out=np.zeros_like(apart), where=lengths > 0)
    return unit.round(DECIMALS)


def name_topics(nodes: Sequence[TopicNode], vectors: Vectors, *, same: float) -> list[TopicNode]:
    """A topic that returns keeps its name and points to where it was last; a new one may not take
    a name that is in use: two subjects of the same name would count as one."""
    named: list[TopicNode] = []
    last: dict[str, str] = {}
    for at, node in enumerate(nodes):
        alike = (vectors[:at] @ vectors[at]).round(DECIMALS)
        if at and float(alike.max()) >= same:
            name = named[int(alike.argmax())].topic_name
            node = replace(node, topic_name=name, parent_node_id=last[name])
        else:
            names = [", ".join(node.terms[:count]) for count in range(NAME_TERMS, TERMS + 1)]
            free = (name for name in names if name and name not in last)
            node = replace(node, topic_name=next(free, names[-1] or UNNAMED))
        named.append(node)
        last[node.topic_name] = node.node_id
    return named
