"""A short talk, an index that counts shared words, and a model that replies what it is told."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from pipelines.memory.layers.nodes import Anchor, Layers, Signals, Threads, TopicNode, Topics
from pipelines.memory.retrieval.index import Ranking
from pipelines.memory.talks import Talk
from pipelines.types import Message
from tests.fakes import Scripted

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
NODES = tuple(
    TopicNode(name, 1, topic, ids)
    for name, topic, ids in (
        ("n1", "cake", (1, 2, 3)),
        ("n2", "bicycle", (4, 5, 6)),
        ("n3", "cake again", (7, 8)),
        ("n4", "bakery", (9, 10)),
    )
)
ANCHORS = (
    Anchor("n2", "emotional_tone", "emotional_tone", 0.9),
    Anchor("n4", "silence_event", "silence_event", 1.0),
)
LAYERS = Layers(Topics(NODES, 1), Signals((), (), ANCHORS), Threads((), ()))


@dataclass
class SharedWords:
    """The chance of a message is the share of the question's long words in it."""

    messages: Sequence[Message]
    factor: float = 1.0
    asked: list[str] = field(default_factory=list)

    def rank_by(self, method: str, question: str) -> Ranking:
        self.asked.append(question)
        wanted = long_words(question)
        scores = [
            len(wanted & long_words(message.content)) / max(len(wanted), 1)
            for message in self.messages
        ]
        order = sorted(range(len(scores)), key=lambda at: (-scores[at], at))
        chances = tuple(min(0.02 + 0.9 * scores[at] * self.factor, 0.98) for at in order)
        return Ranking(tuple(order), tuple(scores[at] for at in order), chances)


def long_words(text: str) -> set[str]:
    return {word for word in re.findall(r"\w+", text.lower()) if len(word) > 3}


def a_talk(*, factor: float = 1.0, layers: Layers | None = None) -> Talk:
    messages = tuple(
        Message(at, "speaker", speaker, text, time) for at, (speaker, time, text) in enumerate(SAID)
    )
    return Talk(messages, SharedWords(messages, factor), layers)


def scripted(*replies: Any) -> Scripted:
    """A model that gives one reply after the other; an error is raised."""
    left = list(replies)

    def say(messages: Any, schema: Any) -> Any:
        reply = left.pop(0)
        if isinstance(reply, Exception):
            raise reply
        return reply

    return Scripted(say)


def turn(
    *ids: int, answer: str | None = "Yes.", search: Sequence[str] = (), read: Sequence[int] = ()
) -> dict[str, Any]:
    """A reply with one phase, or with what else is wanted."""
    phases = [{"title": "All", "summary": "It was so.", "evidence": list(ids)}] if ids else []
    return {"phases": phases, "answer": answer, "search": list(search), "read": list(read)}
