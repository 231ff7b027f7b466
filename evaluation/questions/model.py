"""Questions by a language model, each verified by a second call before it is kept."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

from evaluation.questions.sample import Asked, Talk, TalkMessage, order_of
from labeling.domain.facts import Fact
from labeling.schema.labels import CATEGORIES
from pipelines import prompting
from pipelines.llm import ChatModel
from pipelines.memory.text import spoken

PROMPTS = Path(__file__).parent / "prompts"
ASK, CHECK = "ask.v1", "check.v1"
AROUND = 3  # messages before and after, to know what the chosen ones are about
PAIRS = 0.3  # of the questions are asked about two messages
KINDS = [name for name in CATEGORIES if name not in ("open-domain", "adversarial")]
"""Those that the messages themselves answer."""


def version(model_id: str) -> str:
    hashes = prompting.hashes(PROMPTS)
    return f"{model_id} {ASK}/{hashes[ASK][:8]} {CHECK}/{hashes[CHECK][:8]}"


def choices(talk: Talk, seed: int) -> Iterator[tuple[TalkMessage, ...]]:
    """One message, or two that share a word; each message is chosen once."""
    used: set[int] = set()
    for at in order_of(talk, seed):
        if at in used:
            continue
        draw = random.Random(f"{seed}:{talk.id}:{at}")
        others = {place for stem in talk.stems[at] for place in talk.places[stem]} - used - {at}
        chosen = [at, draw.choice(sorted(others))] if others and draw.random() < PAIRS else [at]
        used.update(chosen)
        yield tuple(talk.messages[place] for place in sorted(chosen))


def ask(talk: Talk, chosen: tuple[TalkMessage, ...], *, model: ChatModel, repetition: int) -> Asked:
    """The model's question about the chosen messages; not verified yet."""
    prompt = prompting.read(PROMPTS, ASK).filled(
        chosen=[_as_input(message) for message in chosen],
        around=[_as_input(message) for message in _around(talk, chosen)],
    )
    data = model.complete(prompt, schema=QUESTION, repetition=repetition).data
    evidence = tuple(message.index for message in chosen)
    texts = (data["question"].strip(), data["answer"].strip())
    return Asked(talk.id, *texts, evidence, data["category"])


def problems_of(asked: Asked, chosen: tuple[TalkMessage, ...], *, model: ChatModel) -> list[Fact]:
    """Problems that a second call reports when it sees only the chosen messages."""
    if not asked.question or not asked.answer:
        return [Fact("sample.empty_question")]
    prompt = prompting.read(PROMPTS, CHECK).filled(
        question=asked.question,
        answer=asked.answer,
        messages=[_as_input(message) for message in chosen],
    )
    verdict = model.complete(prompt, schema=VERDICT).data
    problems = {
        "answerable": Fact("sample.not_answered"),
        "right": Fact("sample.wrong_answer"),
        "all_needed": Fact("sample.not_all_needed"),
    }
    return [problem for name, problem in problems.items() if not verdict[name]]


def _around(talk: Talk, chosen: tuple[TalkMessage, ...]) -> list[TalkMessage]:
    near = {
        place
        for message in chosen
        for place in range(message.index - AROUND, message.index + AROUND + 1)
        if 0 <= place < len(talk.messages)
    }
    return [talk.messages[place] for place in sorted(near - {message.index for message in chosen})]


def _as_input(message: TalkMessage) -> dict[str, str | int]:
    return {
        "index": message.index,
        "speaker": message.speaker,
        "day": message.day,
        "text": spoken(message.text),
    }


TEXT = {"type": "string", "maxLength": 1000}
YES = {"type": "boolean"}
QUESTION = {
    "type": "object",
    "properties": {"question": TEXT, "answer": TEXT, "category": {"enum": KINDS}},
    "required": ["question", "answer", "category"],
}
VERDICT = {
    "type": "object",
    "properties": {"answerable": YES, "right": YES, "all_needed": YES},
    "required": ["answerable", "right", "all_needed"],
}
