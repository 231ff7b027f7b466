"""The steps of the agent, what flows between them, and what they need from outside.

A node reads the state and returns only what it adds. Each can be called alone: it needs the case,
and all but extraction the requirements.
"""

from __future__ import annotations

import operator
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, TypedDict, cast

from pipelines.requirements.analyst import Analyst
from pipelines.requirements.document.sections import Findings
from pipelines.requirements.labels import Document, Issue, Requirement, Step
from pipelines.types import Case

if TYPE_CHECKING:
    from langgraph.runtime import Runtime


class RequirementsState(TypedDict, total=False):
    """Each key but ``steps`` is written by one node; requirements may also be an input."""

    case: Case  # input
    requirements: list[Requirement]  # extraction, or input
    inferred_requirements: list[Requirement]  # inference
    issues: list[Issue]  # validation
    document: Document  # document
    steps: Annotated[list[Step], operator.add]  # every node


@dataclass(frozen=True, slots=True)
class Deps:
    analyst: Analyst


def extraction(state: RequirementsState, runtime: Runtime[Deps]) -> RequirementsState:
    labels, notes = runtime.context.analyst.extract(state["case"])
    return {"requirements": labels, "steps": [step_of("extraction", len(labels), notes)]}


def inference(state: RequirementsState, runtime: Runtime[Deps]) -> RequirementsState:
    labels, notes = runtime.context.analyst.infer(state["case"], state["requirements"])
    kinds = Counter(label["inference_type"] for label in labels)
    step = step_of("inference", len(labels), {**notes, "kinds": dict(kinds)})
    return {"inferred_requirements": labels, "steps": [step]}


def validation(state: RequirementsState, runtime: Runtime[Deps]) -> RequirementsState:
    issues, notes = runtime.context.analyst.validate(state["case"], state["requirements"])
    kinds = Counter(issue["issue_type"] for issue in issues)
    step = step_of("validation", len(issues), {**notes, "kinds": dict(kinds)})
    return {"issues": issues, "steps": [step]}


def document(state: RequirementsState, runtime: Runtime[Deps]) -> RequirementsState:
    """From what is available: a document can also be written without inference or validation."""
    findings = Findings(
        state["case"],
        state["requirements"],
        state.get("inferred_requirements", []),
        state.get("issues", []),
    )
    document, notes = runtime.context.analyst.write(findings)
    empty = [section["id"] for section in document["sections"] if not section["body"]]
    step: Step = {"node": "document", "sections": len(document["sections"]), "empty": empty}
    return {"document": document, "steps": [cast(Step, {**step, **notes})]}


def step_of(node: str, count: int, notes: Mapping[str, object]) -> Step:
    return cast(Step, {"node": node, "found": count, **notes})
