"""Questions about conversations that nobody has asked, each with the messages that answer it.

Out of the words of a message they are repeatable by seed, and no other message contains what they
ask for: they name the words that they look for, which favours retrieval by words, so that results
on them say little about people's questions. What a model asks, it verifies by a second call.
"""

from __future__ import annotations

import hashlib
import json
import random
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import Any

from evaluation.synthetic.talks import FOLDER, PROMPTS, object_of, prompted
from labeling.domain.facts import Fact
from labeling.schema.labels import CATEGORIES, StoredLabel
from pipelines import prompting
from pipelines.fingerprint import fingerprint
from pipelines.llm import ChatModel
from pipelines.memory.text import STOP, spoken, stem, words
from pipelines.types import JsonSchema

LONGEST = 400  # characters of a message that is quoted in an answer
ASK, CHECK = "ask.v1", "check.v1"
AROUND = 3  # messages before and after, to know what the chosen ones are about
PAIRS = 0.3  # of the questions are asked about two messages
KINDS = [name for name in CATEGORIES if name not in ("open-domain", "adversarial")]
"""Those that the messages themselves answer."""


@dataclass(frozen=True, slots=True)
class TalkMessage:
    """``day`` is as people would write it; empty if the time isn't known."""

    index: int
    speaker: str
    text: str
    day: str = ""

    def as_input(self) -> dict[str, str | int]:
        text = spoken(self.text)
        return {"index": self.index, "speaker": self.speaker, "day": self.day, "text": text}


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

    def order(self, seed: int) -> list[int]:
        """The messages with something to ask about, in the order in which they are tried."""
        able = [at for at, stems in enumerate(self.stems) if len(stems) >= 2]
        random.Random(f"{seed}:{self.id}").shuffle(able)
        return able


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


def content_words(text: str) -> dict[str, str]:
    """Stem → the word as written, for words that a question can be about."""
    return {
        stem(word): word
        for word in words(spoken(text))
        if 4 <= len(word) <= 24 and word.isalpha() and word not in STOP
    }


# --- out of words ---------------------------------------------------------------------------------


def version() -> str:
    return f"words/{fingerprint(FOLDER)}"


def out_of_words(talk: Talk, seed: int) -> Iterator[Asked]:
    """At most one for each message, until the caller stops."""
    for at in talk.order(seed):
        draw = random.Random(f"{seed}:{talk.id}:{at}")
        kinds = [_of_one, _of_two]
        draw.shuffle(kinds)
        if question := next(filter(None, (kind(talk, at, draw) for kind in kinds)), None):
            yield question


def _of_one(talk: Talk, at: int, draw: random.Random) -> Asked | None:
    """About two words of the message that no other message has together: what, or when."""
    message = talk.messages[at]
    written = content_words(message.text)
    rare = sorted(written, key=lambda root: (len(talk.places[root]), root))[:4]
    draw.shuffle(rare)
    pair = next((pair for pair in combinations(rare, 2) if talk.holding(pair) == [at]), None)
    if pair is None:
        return None
    about = f"“{written[pair[0]]}” and “{written[pair[1]]}”?"
    if message.day and draw.random() < 0.5:
        question = f"When did {message.speaker} write about {about}"
        return Asked(talk.id, question, message.day, (message.index,), "temporal")
    question = f"What did {message.speaker} say about {about}"
    return Asked(talk.id, question, _quoted(message.text), (message.index,), "single-hop")


def _of_two(talk: Talk, at: int, draw: random.Random) -> Asked | None:
    """Two people, and a word that nobody else uses."""
    written = content_words(talk.messages[at].text)
    shared = [root for root in written if len(talk.places[root]) == 2]
    draw.shuffle(shared)
    for root in shared:
        first, second = (talk.messages[place] for place in talk.places[root])
        if first.speaker != second.speaker:
            question = f"What did {first.speaker} and {second.speaker} say about “{written[root]}”?"
            answer = f"{_quoted(first.text)} – {_quoted(second.text)}"
            return Asked(talk.id, question, answer, (first.index, second.index), "multi-hop")
    return None


def _quoted(text: str) -> str:
    text = " ".join(spoken(text).split())
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"


# --- by a language model --------------------------------------------------------------------------


def version_by(model_id: str) -> str:
    return prompted(model_id, ASK, CHECK)


def choices(talk: Talk, seed: int) -> Iterator[tuple[TalkMessage, ...]]:
    """One message, or two that share a word; each message is chosen once."""
    used: set[int] = set()
    for at in talk.order(seed):
        if at in used:
            continue
        draw = random.Random(f"{seed}:{talk.id}:{at}")
        others = {place for stem in talk.stems[at] for place in talk.places[stem]} - used - {at}
        chosen = [at, draw.choice(sorted(others))] if others and draw.random() < PAIRS else [at]
        used.update(chosen)
        yield tuple(talk.messages[place] for place in sorted(chosen))


def ask(talk: Talk, chosen: Sequence[TalkMessage], *, model: ChatModel, seed: int) -> Asked:
    """The model's question about the chosen messages; not verified yet."""
    evidence = tuple(message.index for message in chosen)
    near = {at + by for at in evidence for by in range(-AROUND, AROUND + 1)} - {*evidence}
    around = [message for message in talk.messages if message.index in near]
    prompt = prompting.read(PROMPTS, ASK).filled(
        chosen=[message.as_input() for message in chosen],
        around=[message.as_input() for message in around],
    )
    data: Any = model.complete(prompt, schema=QUESTION, repetition=seed).data
    texts = (data["question"].strip(), data["answer"].strip())
    return Asked(talk.id, *texts, evidence, data["category"])


def unconfirmed(asked: Asked, chosen: Sequence[TalkMessage], model: ChatModel) -> list[Fact]:
    """Problems that a second call reports when it sees only the chosen messages."""
    if not asked.question or not asked.answer:
        return [Fact("sample.empty_question")]
    prompt = prompting.read(PROMPTS, CHECK).filled(
        question=asked.question,
        answer=asked.answer,
        messages=[message.as_input() for message in chosen],
    )
    verdict: Any = model.complete(prompt, schema=VERDICT).data
    return [problem for name, problem in LOOKED_AT.items() if not verdict[name]]


LOOKED_AT = {
    "answerable": Fact("sample.not_answered"),
    "right": Fact("sample.wrong_answer"),
    "all_needed": Fact("sample.not_all_needed"),
}
TEXT: JsonSchema = {"type": "string", "maxLength": 1000}
QUESTION = object_of(question=TEXT, answer=TEXT, category={"enum": KINDS})
VERDICT = object_of(**{name: {"type": "boolean"} for name in LOOKED_AT})
