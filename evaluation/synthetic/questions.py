"""Questions that a language model asks about stored conversations, each with its evidence.

It is shown one message, or two that share a word, and what it asked it verifies by a second call.
"""

from __future__ import annotations

import hashlib
import json
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from labeling.conversations.rules.transcripts import Message
from labeling.domain.facts import Fact
from labeling.schema.labels import CATEGORIES, StoredLabel
from pipelines import prompting
from pipelines.llm import ChatModel
from pipelines.memory.text import STOP, spoken, stem, words
from pipelines.types import JsonSchema

PROMPTS = Path(__file__).parent / "prompts"
ASK, CHECK = "ask.v1", "check.v1"
AROUND = 3  # messages before and after, to know what the chosen ones are about
PAIRS = 0.3  # of the questions are asked about two messages
KINDS = [name for name in CATEGORIES if name not in ("open-domain", "adversarial")]
"""Those that the messages themselves answer."""


class Talk(NamedTuple):
    id: str
    messages: Sequence[Message]


@dataclass(frozen=True, slots=True)
class Asked:
    """A question, its answer, and the messages that prove it."""

    talk: str
    question: str
    answer: str
    evidence: tuple[int, ...]
    category: str

    def as_label(self) -> StoredLabel:
        """Equal questions have equal uids, so that making them again changes nothing."""
        identity = json.dumps([self.talk, self.question, self.evidence])
        return {
            "uid": f"synthetic-{hashlib.sha256(identity.encode()).hexdigest()[:20]}",
            "question": self.question,
            "answer": self.answer,
            "evidence": list(self.evidence),
            "category": self.category,
        }


def version_by(model_id: str) -> str:
    """The model and its prompts, each with its hash."""
    hashes = prompting.hashes(PROMPTS)
    return " ".join([model_id, *(f"{name}/{hashes[name][:8]}" for name in (ASK, CHECK))])


def choices(talk: Talk, seed: int) -> Iterator[tuple[Message, ...]]:
    """One message, or two that share a word; each message is chosen once."""
    stems = [stems_of(message) for message in talk.messages]
    left = [at for at, held in enumerate(stems) if len(held) >= 2]
    draw = random.Random(f"{seed}:{talk.id}")
    draw.shuffle(left)
    while left:
        at = left.pop()
        sharing = [other for other in left if stems[other] & stems[at]]
        chosen = [at]
        if sharing and draw.random() < PAIRS:
            chosen.append(draw.choice(sharing))
            left.remove(chosen[1])
        yield tuple(talk.messages[place] for place in sorted(chosen))


def stems_of(message: Message) -> frozenset[str]:
    """Of the words that a question can be about."""
    said = (word for word in words(spoken(message.content)) if word.isalpha() and word not in STOP)
    return frozenset(stem(word) for word in said if 4 <= len(word) <= 24)


def _shown(message: Message) -> dict[str, str | int]:
    """The day as people would write it; empty if the time isn't known."""
    day = f"{message.time.day} {message.time:%B %Y}" if message.time else ""
    speaker = message.speaker or f"the {message.role}"
    return {"index": message.index, "speaker": speaker, "day": day, "text": spoken(message.content)}


def ask(talk: Talk, chosen: Sequence[Message], *, model: ChatModel, seed: int) -> Asked:
    """The model's question about the chosen messages; not verified yet."""
    evidence = tuple(message.index for message in chosen)
    near = {at + by for at in evidence for by in range(-AROUND, AROUND + 1)} - {*evidence}
    around = [message for message in talk.messages if message.index in near]
    prompt = prompting.read(PROMPTS, ASK).filled(
        chosen=[*map(_shown, chosen)],
        around=[*map(_shown, around)],
    )
    data: Any = model.complete(prompt, schema=QUESTION, repetition=seed).data
    texts = (data["question"].strip(), data["answer"].strip())
    return Asked(talk.id, *texts, evidence, data["category"])


def unconfirmed(asked: Asked, chosen: Sequence[Message], model: ChatModel) -> list[Fact]:
    """Problems that a second call reports when it sees only the chosen messages."""
    if not asked.question or not asked.answer:
        return [Fact("sample.empty_question")]
    prompt = prompting.read(PROMPTS, CHECK).filled(
        question=asked.question,
        answer=asked.answer,
        messages=[*map(_shown, chosen)],
    )
    verdict: Any = model.complete(prompt, schema=VERDICT).data
    return [problem for name, problem in LOOKED_AT.items() if not verdict[name]]


LOOKED_AT = {
    "answerable": Fact("sample.not_answered"),
    "right": Fact("sample.wrong_answer"),
    "all_needed": Fact("sample.not_all_needed"),
}


def _object_of(**properties: JsonSchema) -> JsonSchema:
    required = list(properties)
    return {"type": "object", "properties": properties, "required": required}


TEXT: JsonSchema = {"type": "string", "maxLength": 1000}
QUESTION = _object_of(question=TEXT, answer=TEXT, category={"enum": KINDS})
VERDICT = _object_of(**{name: {"type": "boolean"} for name in LOOKED_AT})
