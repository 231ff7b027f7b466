"""The prompts of the memory pipeline, and strict reading of replies."""

from __future__ import annotations

from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel, ValidationError

from pipelines.llm import InvalidReply, Reply
from pipelines.prompting import Prompt, read

FOLDER = Path(__file__).parent
Answer = TypeVar("Answer", bound=BaseModel)


def versions(name: str) -> list[str]:
    return sorted(file.stem for file in FOLDER.glob(f"{name}.v*.md"))


def prompt(version: str) -> Prompt:
    return read(FOLDER, version)


def checked(reply: Reply, answer: type[Answer], *, prompt_id: str) -> Answer:
    """The reply as ``answer``, or an error; never a guess instead."""
    try:
        return answer.model_validate(reply.data)
    except ValidationError as error:
        raise InvalidReply(
            "reply.wrong_fields", prompt=prompt_id, fields=error.error_count()
        ) from error
