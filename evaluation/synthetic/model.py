"""Conversations by a language model, each looked at a second time before it is kept."""

from __future__ import annotations

import random
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from evaluation.synthetic.sample import DIFFICULTIES, USER, Sample, Turn
from evaluation.synthetic.templates import ANALYST, starters
from labeling.domain.facts import Fact
from labeling.schema.labels import PRIORITIES, TYPES, StoredLabel
from pipelines import prompting
from pipelines.llm import ChatModel
from pipelines.types import JsonSchema

PROMPTS = Path(__file__).parent / "prompts"
GENERATE, VERIFY = "generate.v1", "verify.v1"


def version(model_id: str) -> str:
    hashes = prompting.hashes(PROMPTS)
    return f"{model_id} {GENERATE}/{hashes[GENERATE][:8]} {VERIFY}/{hashes[VERIFY][:8]}"


def generate(
    number: int, *, domain: str, difficulty: str, seed: int, model: ChatModel, repetition: int
) -> Sample:
    """The model's text, which hasn't been checked yet."""
    draw = random.Random(f"{seed}:{domain}:{difficulty}:{number}")
    asked = DIFFICULTIES[difficulty]
    wishes = {
        "domain": domain,
        "difficulty": difficulty,
        "opening": draw.choice(starters(domain)),
        "messages": draw.randint(*asked.messages),
        "requirements": draw.randint(*asked.requirements),
    }
    prompt = prompting.read(PROMPTS, GENERATE).filled(asked=wishes)
    copy = repetition * 1_000_000 + seed % 1000 * 1000 + number  # equal wishes, other conversations
    reply = model.complete(prompt, schema=SAMPLE, repetition=copy)
    name = f"synthetic-model-{seed}-{domain}-{difficulty}-{number:05d}"
    return _sample(name, domain, difficulty, reply.data)


def unsupported(sample: Sample, *, model: ChatModel) -> list[Fact]:
    """What a second look by the model finds wrong with the labels."""
    prompt = prompting.read(PROMPTS, VERIFY).filled(
        messages=[
            {"index": at, "role": turn.role, "content": turn.content}
            for at, turn in enumerate(sample.turns)
        ],
        requirements=[_without_uid(requirement) for requirement in sample.requirements],
    )
    verdict = model.complete(prompt, schema=VERDICT).data
    stated = {requirement["id"] for requirement in verdict["requirements"] if requirement["stated"]}
    problems = []
    if any(requirement["id"] not in stated for requirement in sample.requirements):
        problems.append(Fact("sample.requirement_not_stated"))
    if verdict["missing"]:
        problems.append(Fact("sample.requirement_missing"))
    return problems


def _sample(name: str, domain: str, difficulty: str, data: Mapping[str, Any]) -> Sample:
    labels = [
        {**requirement, "uid": f"{name}-{at}", "id": f"REQ-{at:03d}", "confidence": 1.0}
        for at, requirement in enumerate(data["requirements"], start=1)
    ]
    turns = tuple(Turn(message["role"], message["content"].strip()) for message in data["messages"])
    return Sample(name, domain, difficulty, turns, tuple(labels))


def _without_uid(label: StoredLabel) -> StoredLabel:
    return {name: value for name, value in label.items() if name not in ("uid", "confidence")}


def _object(**properties: JsonSchema) -> JsonSchema:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def _list(items: JsonSchema) -> JsonSchema:
    return {"type": "array", "items": items}


TEXT = {"type": "string"}
SAMPLE = _object(
    messages=_list(_object(role={"enum": [USER, ANALYST]}, content=TEXT)),
    requirements=_list(
        _object(
            title=TEXT,
            type={"enum": list(TYPES)},
            actor=TEXT,
            action=TEXT,
            condition={"type": ["string", "null"]},
            acceptance_criteria=_list(TEXT),
            priority={"enum": list(PRIORITIES)},
            source_messages=_list({"type": "integer"}),
            rationale=TEXT,
        )
    ),
)
VERDICT = _object(
    requirements=_list(_object(id=TEXT, stated={"type": "boolean"})), missing=_list(TEXT)
)
