"""``requirements-model``: extraction by a language model."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict

from pipelines.errors import NoModel
from pipelines.llm import ChatModel
from pipelines.requirements.model.analyst import ModelAnalyst
from pipelines.requirements.version import version
from pipelines.types import Case, Output

NAME = "requirements-model"


class RequirementsModelConfig(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class RequirementsModel:
    """The extraction node of the agent alone."""

    name = NAME

    def __init__(self, config: RequirementsModelConfig, model: ChatModel | None) -> None:
        if model is None:
            raise NoModel("pipeline.needs_model", pipeline=NAME)
        self.config: dict[str, Any] = config.model_dump(mode="json")
        self._analyst = ModelAnalyst(model)

    @property
    def version(self) -> str:
        return version()

    def run(self, case: Case) -> Output:
        found = self._analyst.extract(case)
        step = {"node": "extraction", "found": len(found.labels), **found.notes}
        return {"requirements": found.labels, "model": found.notes.get("model"), "steps": [step]}
