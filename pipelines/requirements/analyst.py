"""A protocol for the work of the nodes, so that rules and models can replace each other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Generic, NamedTuple, Protocol, TypeVar

from pipelines.requirements.config import AgentConfig
from pipelines.requirements.document import sections, talk
from pipelines.requirements.document.sections import Findings
from pipelines.requirements.extraction import nodes
from pipelines.requirements.inference.local import infer
from pipelines.requirements.labels import Document, Issue, Notes, Requirement
from pipelines.requirements.language import is_foreign
from pipelines.requirements.local import trace
from pipelines.requirements.validation import reading
from pipelines.requirements.validation.local import validate
from pipelines.types import Case, Encoder

Label = TypeVar("Label", Requirement, Issue)


class Labeled(NamedTuple, Generic[Label]):
    """The labels that a node adds, and the trace's notes on how it came to them."""

    labels: list[Label]
    notes: Notes


class Written(NamedTuple):
    document: Document
    notes: Notes


class Analyst(Protocol):
    def extract(self, case: Case) -> Labeled[Requirement]: ...

    def infer(self, case: Case, requirements: Sequence[Requirement]) -> Labeled[Requirement]: ...

    def validate(self, case: Case, requirements: Sequence[Requirement]) -> Labeled[Issue]: ...

    def write(self, findings: Findings) -> Written: ...


class LocalAnalyst:
    """By rules, word lists and vectors; no language model is asked."""

    def __init__(self, config: AgentConfig, encoder: Encoder) -> None:
        self._config = config
        self._encoder = encoder
        self._deps = nodes.Deps(
            encoder=encoder,
            min_keep=config.min_keep,
            merge=config.merge_duplicates,
            merge_above=config.merge_above,
        )

    def extract(self, case: Case) -> Labeled[Requirement]:
        state = trace(case, self._deps)
        notes: Notes = {
            "sentences": len(state["sentences"]),
            "commitments": len(state["commitments"]),
            "standing": sum(one.wanted for one in state["commitments"]),
            "kept": len(state["kept"]),
        }
        if is_foreign(case.messages):
            notes["foreign"] = True
        return Labeled(state["requirements"], notes)

    def infer(self, case: Case, requirements: Sequence[Requirement]) -> Labeled[Requirement]:
        labels = infer(
            requirements,
            refused=[one.text for one in talk.of(case).ended],
            encoder=self._encoder,
            infer_above=self._config.infer_above,
            stated_above=self._config.stated_above,
        )
        return Labeled(labels, {"from": len(requirements)})

    def validate(self, case: Case, requirements: Sequence[Requirement]) -> Labeled[Issue]:
        issues = validate(
            requirements,
            encoder=self._encoder,
            conflict_above=self._config.conflict_above,
        )
        unusable = len(reading.unusable(requirements))
        return Labeled(issues, {"of": len(requirements), "unusable": unusable})

    def write(self, findings: Findings) -> Written:
        return Written(sections.write(findings), {})
