"""``requirements-agent`` goes from a conversation to its requirements document, or part of the way;
``requirements-model`` is its extraction by a language model alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import cast

from pipelines import prompting
from pipelines.errors import NoModel
from pipelines.fingerprint import fingerprint
from pipelines.llm import ChatModel
from pipelines.requirements.config import AgentConfig, PartsConfig
from pipelines.requirements.document.sections import Findings
from pipelines.requirements.graph import WHOLE, RequirementsState, Team, run, step_of
from pipelines.requirements.labels import Requirement, Step
from pipelines.requirements.language import NOTICE
from pipelines.requirements.model.analyst import ModelAnalyst
from pipelines.types import Case, Config, Output


class RequirementsAgent:
    name = "requirements-agent"

    def __init__(self, config: AgentConfig, team: Team) -> None:
        self.config: Config = config.model_dump(mode="json")
        self._whole_way = config.whole_way
        self._team = team

    @property
    def version(self) -> str:
        return _version()

    def run(self, case: Case) -> Output:
        """The labels of the layer that is asked for, and of every node on the way there."""
        state: RequirementsState = {
            "case": replace(case, task=WHOLE) if self._whole_way else case,
            "steps": [],
        }
        if case.requirements is not None and case.task != "extraction":
            state["requirements"] = [cast(Requirement, dict(label)) for label in case.requirements]
        end = run(state, self._team)
        output: Output = {key: value for key, value in end.items() if key != "case"}
        foreign = any(step.get("foreign") for step in end["steps"])
        return output | {"model": _model_of(end["steps"])} | ({"notice": NOTICE} if foreign else {})


class RequirementsModelConfig(PartsConfig):
    """How a long conversation is divided."""


class RequirementsModel:
    name = "requirements-model"

    def __init__(self, config: RequirementsModelConfig, model: ChatModel | None) -> None:
        if model is None:
            raise NoModel("pipeline.needs_model", pipeline=self.name)
        self.config: Config = config.model_dump(mode="json")
        self._analyst = ModelAnalyst(model, config)

    @property
    def version(self) -> str:
        return _version()

    def run(self, case: Case) -> Output:
        labels, notes = self._analyst.extraction(Findings(case))
        step = step_of("extraction", labels, notes)
        return {"requirements": labels, "model": notes.get("model"), "steps": [step]}


def _version() -> str:
    return f"2+{fingerprint(Path(__file__).parent, *prompting.READING)}"


def _model_of(steps: Sequence[Step]) -> str | None:
    """The model that was asked; none if no node on the way asked any."""
    return next((step["model"] for step in steps if "model" in step), None)
