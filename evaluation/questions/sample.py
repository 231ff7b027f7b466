"""The input and output of question generators."""

from __future__ import annotations

import hashlib
import json
import random
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from labeling.schema.labels import StoredLabel
from pipelines.memory.text import STOP, spoken, stem, words


@dataclass(frozen=True, slots=True)
class TalkMessage:
    """A message of the conversation."""

    index: int
    speaker: str
    text: str
    day: str = ""
    """As people would write it; empty if the time isn't known."""


@dataclass(frozen=True)
class Talk:
    """One conversation, with an index of the words that distinguish its messages."""

    id: str
    messages: Sequence[TalkMessage]

    @cached_property
    def stems(self) -> list[frozenset[str]]:
        return [frozenset(content_words(message.text)) for message in self.messages]

    @cached_property
    def places(self) -> Mapping[str, list[int]]:
        """The messages that contain each stem."""
        places = defaultdict(list)
        for at, stems in enumerate(self.stems):
            for root in stems:
                places[root].append(at)
        return places

    def holding(self, stems: Sequence[str]) -> list[int]:
        """The messages that contain all of these stems."""
        first, *others = (set(self.places.get(root, ())) for root in stems)
        return sorted(first.intersection(*others))


@dataclass(frozen=True, slots=True)
class Asked:
    """A question, its answer, and the messages that prove it."""

    talk: str
    question: str
    answer: str
    evidence: tuple[int, ...]
    category: str

    @property
    def uid(self) -> str:
        """Equal questions have equal uids, so that making them again changes nothing."""
        identity = json.dumps([self.talk, self.question, self.evidence])
        return f"synthetic-{hashlib.sha256(identity.encode()).hexdigest()[:20]}"

    def as_label(self) -> StoredLabel:
        return {
            "uid": self.uid,
            "question": self.question,
            "answer": self.answer,
            "evidence": list(self.evidence),
            "category": self.category,
        }


def content_words(text: str) -> dict[str, str]:
    """Stem → the word as written, for words that a question can be about."""
    return {
        stem(word): word
        for word in words(spoken(text))
        if 4 <= len(word) <= 24 and word.isalpha() and word not in STOP
    }


def order_of(talk: Talk, seed: int) -> list[int]:
    """The messages with something to ask about, in the order in which they are tried."""
    able = [at for at, stems in enumerate(talk.stems) if len(stems) >= 2]
    random.Random(f"{seed}:{talk.id}").shuffle(able)
    return able
