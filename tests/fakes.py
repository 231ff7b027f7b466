"""Stand-ins for tests: quick, honest about what they are, and without the network."""

import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from labeling.agreement.matching.matchers import Rules
from labeling.agreement.rules.records import counted, summed_records
from pipelines.llm import ChatMessage, Reply
from pipelines.memory.text import words
from tests.layers import REQUIREMENT


class WordOverlap:
    """An encoder that only counts words: equal texts 1.0, no word in common 0.0."""

    id = "word-overlap"
    dimensions = 384

    def __init__(self) -> None:
        self.batches: list[list[str]] = []

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self.batches.append(list(texts))
        rows = np.zeros((len(texts), self.dimensions), dtype=np.float32)
        for row, text in zip(rows, texts, strict=True):
            for word in text.lower().split() or [""]:
                row[zlib.crc32(word.encode()) % self.dimensions] += 1
        return rows / np.linalg.norm(rows, axis=1, keepdims=True)

    def encode_both(self, texts: Sequence[str]) -> Any:
        """And a row for each word, without its context."""
        split = [tuple(words(text)) or ("",) for text in texts]
        return self.encode(texts), [(pieces, self.encode(pieces)) for pieces in split]


def requirement(title: str, **fields: Any) -> dict[str, Any]:
    """One that this title alone says."""
    return REQUIREMENT | {
        "uid": title.lower().replace(" ", "-"),
        "title": title,
        "actor": "user",
        "action": "",
        "acceptance_criteria": [f"{title} works", f"{title} is tested"],
        **fields,
    }


@dataclass
class Scripted:
    """A language model that says what a test tells it, and remembers what it was asked.

    ``reply`` is a text, or what gives the data of a reply to these messages by this schema.
    """

    reply: str | Callable[[Sequence[ChatMessage], Any], Any]
    id: str = "test/scripted"
    context_tokens: int = 128_000
    asked: list[Sequence[ChatMessage]] = field(default_factory=list)
    schemas: list[Any] = field(default_factory=list)

    def complete(self, messages: Sequence[ChatMessage], **options: Any) -> Reply:
        schema = options.get("schema")
        self.asked.append([*messages])
        self.schemas.append(schema)
        if isinstance(self.reply, str):
            return Reply(self.reply, model="scripted-1")
        return Reply("", self.reply(messages, schema), model="scripted-1")


def record_agreement(labels, *, ruler):
    """Each pair of people over the conversations that both answered, counted from the beginning."""
    pairs = {
        (a, b): {
            name: counted(labels[a][name], labels[b][name], Rules(ruler)).counts
            for name in labels[a].keys() & labels[b].keys()
        }
        for a, b in combinations(sorted(labels), 2)
    }
    every = {name for own in labels.values() for name in own}
    return summed_records(labels, pairs, every, has_sources=True)
