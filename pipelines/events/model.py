"""``events-model``: a language model reads the text; its reply is returned as it is."""

from __future__ import annotations

import json
from pathlib import Path
from string import Template
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from pipelines.errors import PipelineError
from pipelines.fingerprint import fingerprint
from pipelines.llm import ChatMessage, ChatModel
from pipelines.types import Case, Output

NAME = "events-model"
PROMPTS = {False: "extract.v1", True: "extract-thought.v1"}


class NoModel(PipelineError):
    code = "no_model"


class EventsModelConfig(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    thought: bool = Field(default=False, description="Ask for a <thought> block before the answer.")


class EventsModel:
    """Nothing is mended here: what the model said is what is measured."""

    name = NAME

    def __init__(self, config: EventsModelConfig, model: ChatModel | None) -> None:
        if model is None:
            raise NoModel("Pipeline “events-model” needs a language model, and none is configured.")
        self._model = model
        self._prompt = PROMPTS[config.thought]
        self.config: dict[str, Any] = config.model_dump(mode="json")

    @property
    def version(self) -> str:
        return f"1+{fingerprint(Path(__file__).parent)}"

    def run(self, case: Case) -> Output:
        system, user = _prompt(self._prompt, case)
        reply = self._model.complete([ChatMessage("system", system), ChatMessage("user", user)])
        return {"raw": reply.text, "prompt": self._prompt, "model": reply.model or self._model.id}


def _prompt(name: str, case: Case) -> tuple[str, str]:
    """What is given stands in as JSON, so that no text can pass for an instruction."""
    text = (Path(__file__).parent / "prompts" / f"{name}.md").read_text(encoding="utf-8")
    given = {"schema": case.event_schema or {}, "text": [one.content for one in case.messages]}
    filled = {key: json.dumps(value, ensure_ascii=False) for key, value in given.items()}
    system, user = (Template(part).substitute(filled) for part in text.split("\n---\n", 1))
    return system.strip(), user.strip()
