"""``events-model``: a language model reads the text; its reply is returned as it is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Self

from pydantic import model_validator

from pipelines import prompting
from pipelines.errors import NoModel
from pipelines.fingerprint import fingerprint
from pipelines.llm import ChatModel
from pipelines.types import Case, Config, JsonSchema, Output, Settings, setting

NAME = "events-model"
FOLDER = Path(__file__).parent / "prompts"
RAW, THOUGHT, STRICT = "extract.v1", "extract-thought.v1", "extract-strict.v1"
TEXT: JsonSchema = {"type": "string"}


class EventsModelConfig(Settings):
    thought: bool = setting(False, "Ask for a <thought> block before the answer.")
    strict: bool = setting(
        False,
        "Bind the reply to the schema of the events; without it the reply is measured as it comes.",
    )

    @model_validator(mode="after")
    def _one_form(self) -> Self:
        if self.thought and self.strict:
            raise ValueError("a reply that is bound to a schema has no <thought> block")
        return self


class EventsModel:
    """Nothing is repaired here: the model's reply is measured as it is, if it is not strict."""

    name = NAME

    def __init__(self, config: EventsModelConfig, model: ChatModel | None) -> None:
        if model is None:
            raise NoModel("pipeline.needs_model", pipeline=self.name)
        self._model = model
        self._strict = config.strict
        self._prompt = STRICT if config.strict else THOUGHT if config.thought else RAW
        self.config: Config = config.model_dump(mode="json")

    @property
    def version(self) -> str:
        return f"1+{fingerprint(Path(__file__).parent, *prompting.READING)}"

    def run(self, case: Case) -> Output:
        prompt = prompting.read(FOLDER, self._prompt)
        text = [message.content for message in case.messages]
        known = case.event_schema or {}
        bound = schema_of(known) if self._strict else None
        reply = self._model.complete(prompt.filled(schema=known, text=text), schema=bound)
        return {"raw": reply.text, "prompt": self._prompt, "model": reply.model or self._model.id}


def schema_of(known: Mapping[str, Sequence[str]]) -> JsonSchema:
    """Events of the known types, each with its own roles; of any where none is known."""
    kinds = [_event(_one_of([name]), _one_of(roles)) for name, roles in known.items()]
    event = {"anyOf": kinds} if kinds else _event(TEXT, TEXT)
    return _object({"events": {"type": "array", "items": event}})


def _event(kind: JsonSchema, role: JsonSchema) -> JsonSchema:
    argument = _object({"role": role, "argument": TEXT})
    arguments = {"type": "array", "items": argument}
    return _object({"event_type": kind, "trigger": TEXT, "arguments": arguments})


def _one_of(names: Sequence[str]) -> JsonSchema:
    return {"type": "string", "enum": list(names)} if names else TEXT


def _object(fields: Mapping[str, Any]) -> JsonSchema:
    return {"type": "object", "properties": dict(fields), "required": list(fields)}
