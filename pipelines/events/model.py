"""``events-model``: a language model reads the text; its reply is returned as it is."""

from __future__ import annotations

from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field

from pipelines import prompting
from pipelines.errors import NoModel
from pipelines.fingerprint import fingerprint
from pipelines.llm import ChatModel
from pipelines.types import Case, Config, Output

NAME = "events-model"
FOLDER = Path(__file__).parent / "prompts"
PROMPTS = {False: "extract.v1", True: "extract-thought.v1"}


class EventsModelConfig(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    thought: bool = Field(default=False, description="Ask for a <thought> block before the answer.")


class EventsModel:
    """Nothing is repaired here: the model's reply is measured as it is."""

    name = NAME

    def __init__(self, config: EventsModelConfig, model: ChatModel | None) -> None:
        if model is None:
            raise NoModel("pipeline.needs_model", pipeline=self.name)
        self._model = model
        self._prompt = PROMPTS[config.thought]
        self.config: Config = config.model_dump(mode="json")

    @property
    def version(self) -> str:
        return f"1+{fingerprint(Path(__file__).parent, *prompting.READING)}"

    def run(self, case: Case) -> Output:
        prompt = prompting.read(FOLDER, self._prompt)
        text = [message.content for message in case.messages]
        reply = self._model.complete(prompt.filled(schema=case.event_schema or {}, text=text))
        return {"raw": reply.text, "prompt": self._prompt, "model": reply.model or self._model.id}
