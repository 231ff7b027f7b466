"""A protocol for the work of the nodes, so that rules and models can replace each other."""

from __future__ import annotations

from typing import Protocol

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
from pipelines.types import Encoder


class Analyst(Protocol):
    """A method for each node: what it adds to the findings, and the trace's notes on how."""

    def extraction(self, findings: Findings) -> tuple[list[Requirement], Notes]: ...

    def inference(self, findings: Findings) -> tuple[list[Requirement], Notes]: ...

    def validation(self, findings: Findings) -> tuple[list[Issue], Notes]: ...

    def document(self, findings: Findings) -> tuple[Document, Notes]: ...


class LocalAnalyst:
    """By rules, fitted models and vectors; no language model is asked."""

    def __init__(self, config: AgentConfig, encoder: Encoder) -> None:
        self._config = config
        self._encoder = encoder
        self._deps = nodes.Deps(
            encoder=encoder,
            min_keep=config.min_keep,
            merge=config.merge_duplicates,
            merge_above=config.merge_above,
        )

    def extraction(self, findings: Findings) -> tuple[list[Requirement], Notes]:
        state = trace(findings.case, self._deps)
        notes: Notes = {
            "sentences": len(state["sentences"]),
            "commitments": len(state["commitments"]),
            "standing": sum(one.wanted for one in state["commitments"]),
            "kept": len(state["kept"]),
        }
        if is_foreign(findings.case.messages):
            notes["foreign"] = True
        return state["requirements"], notes

    def inference(self, findings: Findings) -> tuple[list[Requirement], Notes]:
        labels = infer(
            findings.requirements,
            refused=[one.text for one in talk.of(findings.case).ended],
            infer_above=self._config.infer_above,
        )
        return labels, {"from": len(findings.requirements)}

    def validation(self, findings: Findings) -> tuple[list[Issue], Notes]:
        labels = findings.requirements
        issues = validate(labels, encoder=self._encoder)
        return issues, {"of": len(labels), "unusable": len(reading.unusable(labels))}

    def document(self, findings: Findings) -> tuple[Document, Notes]:
        return sections.write(findings), {}
