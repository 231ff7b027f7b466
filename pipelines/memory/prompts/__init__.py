"""Prompts are files with a version in their name: another wording is another file."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from string import Template
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from pipelines.llm import ChatMessage, ChatModel, InvalidReply

CURRENT = {
    "intent": "intent.v1",
    "grade": "grade.v1",
    "phases": "phases.v1",
    "topics": "topics.v1",
    "tones": "tones.v1",
    "links": "links.v1",
}
Answer = TypeVar("Answer", bound=BaseModel)


@dataclass(frozen=True, slots=True)
class Prompt:
    id: str
    system: str
    user: Template


@cache
def load(name: str) -> Prompt:
    version = CURRENT[name]
    text = (Path(__file__).parent / f"{version}.md").read_text(encoding="utf-8")
    system, user = text.split("\n---\n", 1)
    return Prompt(version, system.strip(), Template(user.strip()))


def ask(model: ChatModel, name: str, answer: type[Answer], **given: Any) -> Answer:
    """The model's reply as ``answer``, or one of the typed errors; never a guess instead.

    What is given is put in as JSON: a message of the talk cannot pass for an instruction of ours.
    """
    prompt = load(name)
    filled = {key: json.dumps(value, ensure_ascii=False) for key, value in given.items()}
    reply = model.complete(
        [ChatMessage("system", prompt.system), ChatMessage("user", prompt.user.substitute(filled))],
        schema=answer.model_json_schema(),
    )
    try:
        return answer.model_validate(reply.data)
    except ValidationError as error:
        raise InvalidReply(
            f"The model's reply to {prompt.id} is not what was asked for: "
            f"{error.error_count()} fields are missing or wrong.",
            prompt=prompt.id,
        ) from error
