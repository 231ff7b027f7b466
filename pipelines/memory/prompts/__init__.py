"""The prompts of the memory pipeline in their current versions, and strict reading of replies."""

from __future__ import annotations

from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from pipelines.llm import ChatModel, InvalidReply
from pipelines.prompting import read

CURRENT = {
    "intent": "intent.v1",
    "grade": "grade.v1",
    "phases": "phases.v1",
    "topics": "topics.v1",
    "tones": "tones.v1",
    "links": "links.v1",
}
Answer = TypeVar("Answer", bound=BaseModel)


def ask(model: ChatModel, name: str, answer: type[Answer], **values: Any) -> Answer:
    """The model's reply as ``answer``, or one of the typed errors; never a guess instead."""
    prompt = read(Path(__file__).parent, CURRENT[name])
    reply = model.complete(prompt.filled(**values), schema=answer.model_json_schema())
    try:
        return answer.model_validate(reply.data)
    except ValidationError as error:
        raise InvalidReply(
            "reply.wrong_fields", prompt=prompt.id, fields=error.error_count()
        ) from error
