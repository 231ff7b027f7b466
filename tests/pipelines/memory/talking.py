"""A short talk, an index that counts shared words, and a model that replies what it is told."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from pipelines.llm import ChatMessage, Reply, Usage
from pipelines.memory.query.talk import Node, Talk
from pipelines.types import Message

SAID = (
    ("Ann", "2024-01-01T10:00:00+00:00", "Happy new year! I baked a lemon cake."),  # 1
    ("Bob", "2024-01-01T10:01:00+00:00", "Nice. I am off to Oslo tomorrow."),  # 2
    ("Ann", "2024-01-01T10:02:00+00:00", "Have fun in Oslo."),  # 3
    ("Bob", "2024-01-05T18:00:00+00:00", "I bought a red bicycle in Oslo!"),  # 4
    ("Ann", "2024-01-05T18:02:00+00:00", "How much was the bicycle?"),  # 5
    ("Bob", "2024-01-05T18:03:00+00:00", "Two hundred."),  # 6
    ("Ann", "2024-01-10T09:00:00+00:00", "My second cake was a chocolate cake."),  # 7
    ("Bob", "2024-01-10T09:05:00+00:00", "Send me a slice."),  # 8
    ("Ann", "2024-01-20T12:00:00+00:00", "I opened a bakery and sell cake there."),  # 9
    ("Bob", "2024-01-20T12:01:00+00:00", "Proud of you!"),  # 10
)
NODES = (
    Node("n1", "cake", (1, 2, 3), linked=("n3", "n4")),
    Node("n2", "bicycle", (4, 5, 6), anchors=frozenset({"emotional_tone"})),
    Node("n3", "cake again", (7, 8), linked=("n1", "n4")),
    Node("n4", "bakery", (9, 10), anchors=frozenset({"silence_event"}), linked=("n1", "n3")),
)


@dataclass(frozen=True)
class Found:
    indexes: tuple[int, ...]
    scores: tuple[float, ...]
    probabilities: tuple[float, ...]


@dataclass
class SharedWords:
    """The chance of a message is the share of the question's long words in it."""

    messages: Sequence[Message]
    factor: float = 1.0
    asked: list[str] = field(default_factory=list)

    def rank_all(self, texts: Sequence[str], *, limit: int | None = None) -> list[Found]:
        self.asked += texts
        return [self._rank(text, limit) for text in texts]

    def _rank(self, question: str, limit: int | None) -> Found:
        wanted = long_words(question)
        scores = [
            len(wanted & long_words(message.content)) / max(len(wanted), 1)
            for message in self.messages
        ]
        order = sorted(range(len(scores)), key=lambda at: (-scores[at], at))[:limit]
        chances = tuple(min(0.02 + 0.9 * scores[at] * self.factor, 0.98) for at in order)
        return Found(tuple(order), tuple(scores[at] for at in order), chances)


def long_words(text: str) -> set[str]:
    return {word for word in re.findall(r"\w+", text.lower()) if len(word) > 3}


def about(text: str) -> tuple[str, ...]:
    named = [name for name in ("Ann", "Bob") if re.search(rf"\b{name}\b", text)]
    return tuple(sorted(named, key=text.index))


def a_talk(*, factor: float = 1.0, nodes: Sequence[Node] = NODES) -> Talk:
    messages = tuple(
        Message(at, "speaker", speaker, text, time) for at, (speaker, time, text) in enumerate(SAID)
    )
    people = {"Ann": ("ann",), "Bob": ("bob",)}
    return Talk(messages, SharedWords(messages, factor), nodes, people, about)


class Scripted:
    """A model with a queue of replies, and the history of what it was asked."""

    id = "test/scripted"

    def __init__(self, *replies: Any) -> None:
        self._replies = list(replies)
        self.history: list[list[ChatMessage]] = []

    def complete(
        self,
        messages: Sequence[ChatMessage],
        *,
        schema: dict[str, Any] | None = None,
        repetition: int = 0,
    ) -> Reply:
        self.history.append(list(messages))
        reply = self._replies.pop(0)
        if isinstance(reply, Exception):
            raise reply
        return Reply(text="", data=reply, usage=Usage(10, 5, 0.001), model=self.id)


INTENT = {
    "query_type": "event_retrieval",
    "focus_dimensions": [],
    "output_mode": "summary",
    "time_range": None,
    "sub_questions": [],
}


def grade(*ids: int, sufficient: bool = True, missing: Sequence[str] = ()) -> dict[str, Any]:
    relevant = [{"id": id, "support": 0.9} for id in ids]
    return {"relevant": relevant, "sufficient": sufficient, "missing": list(missing)}


def phases(*ids: int, answer: str | None = "Yes.") -> dict[str, Any]:
    return {
        "phases": [{"title": "All", "summary": "It was so.", "evidence": list(ids)}],
        "answer": answer,
    }
