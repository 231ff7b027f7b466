"""``requirements-agent``: from a conversation to its requirements document, or part of the way."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pipelines.fingerprint import fingerprint
from pipelines.requirements.analyst import Analyst
from pipelines.requirements.config import AgentConfig
from pipelines.requirements.state import Deps, RequirementsState
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
        return f"1+{fingerprint(Path(__file__).parent)}"

    def run(self, case: Case) -> Output:
        """The labels of the layer that is asked for, and of every node on the way there."""
        from pipelines.requirements.graph import run

        state: RequirementsState = {"case": case, "steps": []}
        if case.requirements is not None:
            state["requirements"] = [dict(one) for one in case.requirements]
        found = run(state, self._deps)
        return {key: found[key] for key in KEYS if key in found} | {"model": None}  # type: ignore[literal-required]
