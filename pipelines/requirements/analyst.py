"""Who does the work of the nodes: one protocol, so that rules and models can stand in for each
other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

from pipelines.requirements.config import AgentConfig
from pipelines.requirements.document import sections
from pipelines.requirements.document.sections import Findings
from pipelines.requirements.extraction import nodes
from pipelines.requirements.inference.local import infer
from pipelines.requirements.local import trace
from pipelines.requirements.validation.local import validate
from pipelines.requirements.wording import Requirement
from pipelines.types import Case, Encoder


class Found(NamedTuple):
    """The labels that a node adds, and what the trace tells of how they were found."""

    labels: list[dict[str, Any]]
    notes: dict[str, Any]


class Written(NamedTuple):
    """The document, its title and its eleven sections in Markdown, and what the trace tells."""

    document: dict[str, Any]
    notes: dict[str, Any]


class Analyst(Protocol):
    def extract(self, case: Case) -> Found: ...

    def infer(self, case: Case, requirements: Sequence[Requirement]) -> Found: ...

    def validate(self, case: Case, requirements: Sequence[Requirement]) -> Found: ...

    def write(self, findings: Findings) -> Written: ...


class LocalAnalyst:
    """By rules, word lists and vectors; no language model is asked."""

    def __init__(self, config: AgentConfig, encoder: Encoder) -> None:
        self._config = config
        self._encoder = encoder
        self._deps = nodes.Deps(
            encoder=encoder if config.merge_duplicates else None,
            min_keep=config.min_keep,
            merge_above=config.merge_above,
        )

    def extract(self, case: Case) -> Found:
        state = trace(case, self._deps)
        steps = ("sentences", "candidates", "standing", "kept")
        notes = {name: len(state[name]) for name in steps}  # type: ignore[literal-required]
        return Found(state["requirements"], notes)

    def infer(self, case: Case, requirements: Sequence[Requirement]) -> Found:
        labels = infer(
            requirements,
            domain=case.domain,
            encoder=self._encoder,
            infer_above=self._config.infer_above,
            stated_above=self._config.stated_above,
        )
        return Found(labels, {"from": len(requirements)})

    def validate(self, case: Case, requirements: Sequence[Requirement]) -> Found:
        labels = validate(
            requirements, encoder=self._encoder, conflict_above=self._config.conflict_above
        )
        return Found(labels, {"of": len(requirements)})

    def write(self, findings: Findings) -> Written:
        return Written(sections.write(findings), {})


@dataclass(frozen=True, slots=True)
class Team:
    """Another analyst for each node."""

    extraction: Analyst
    inference: Analyst
    validation: Analyst
    document: Analyst

    def extract(self, case: Case) -> Found:
        return self.extraction.extract(case)

    def infer(self, case: Case, requirements: Sequence[Requirement]) -> Found:
        return self.inference.infer(case, requirements)

    def validate(self, case: Case, requirements: Sequence[Requirement]) -> Found:
        return self.validation.validate(case, requirements)

    def write(self, findings: Findings) -> Written:
        return self.document.write(findings)
