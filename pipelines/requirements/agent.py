"""``requirements-agent``: from a conversation to its requirements document, or part of the way."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from pipelines.requirements.analyst import Analyst
from pipelines.requirements.config import AgentConfig
from pipelines.requirements.state import Deps, RequirementsState
from pipelines.requirements.version import version
from pipelines.types import Case, Output

NAME = "requirements-agent"
KEYS = ("requirements", "inferred_requirements", "issues", "document", "steps")


class RequirementsAgent:
    name = NAME

    def __init__(self, config: AgentConfig, analyst: Analyst) -> None:
        self.config: dict[str, Any] = config.model_dump(mode="json")
        self._deps = Deps(analyst)

    @property
    def version(self) -> str:
        return version()

    def run(self, case: Case) -> Output:
        """The labels of the layer that is asked for, and of every node on the way there."""
        from pipelines.requirements.graph import WHOLE, run

        asked = replace(case, task=WHOLE) if self.config["whole_way"] else case
        state: RequirementsState = {"case": asked, "steps": []}
        if case.requirements is not None and case.task != "extraction":
            state["requirements"] = [dict(one) for one in case.requirements]
        found = run(state, self._deps)
        output = {key: found[key] for key in KEYS if key in found}  # type: ignore[literal-required]
        return output | {"model": _model_of(found["steps"])}


def _model_of(steps: Sequence[Mapping[str, Any]]) -> str | None:
    """The model that was asked; none if no node on the way asked any."""
    return next((step["model"] for step in steps if "model" in step), None)
