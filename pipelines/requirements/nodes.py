"""The steps of the agent. A node reads the state and returns only what it adds.

Each can be called alone: it needs the case, and all but extraction the requirements.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from pipelines.requirements.document.sections import Findings
from pipelines.requirements.state import Deps, RequirementsState

if TYPE_CHECKING:
    from langgraph.runtime import Runtime


def extraction(state: RequirementsState, runtime: Runtime[Deps]) -> RequirementsState:
    found = runtime.context.analyst.extract(state["case"])
    return {"requirements": found.labels, "steps": _step("extraction", found.labels, found.notes)}


def inference(state: RequirementsState, runtime: Runtime[Deps]) -> RequirementsState:
    found = runtime.context.analyst.infer(state["case"], state["requirements"])
    kinds = Counter(one["inference_type"] for one in found.labels)
    steps = _step("inference", found.labels, found.notes | {"kinds": dict(kinds)})
    return {"inferred_requirements": found.labels, "steps": steps}


def validation(state: RequirementsState, runtime: Runtime[Deps]) -> RequirementsState:
    found = runtime.context.analyst.validate(state["case"], state["requirements"])
    kinds = Counter(one["issue_type"] for one in found.labels)
    steps = _step("validation", found.labels, found.notes | {"kinds": dict(kinds)})
    return {"issues": found.labels, "steps": steps}


def document(state: RequirementsState, runtime: Runtime[Deps]) -> RequirementsState:
    """From whatever there is: a document can be written without inference or validation, too."""
    findings = Findings(
        state["case"],
        state["requirements"],
        state.get("inferred_requirements", []),
        state.get("issues", []),
    )
    written, notes = runtime.context.analyst.write(findings)
    empty = [section["id"] for section in written["sections"] if not section["body"]]
    step = {"node": "document", "sections": len(written["sections"]), "empty": empty}
    return {"document": written, "steps": [step | notes]}


def _step(node: str, labels: list[dict[str, Any]], notes: dict[str, Any]) -> list[dict[str, Any]]:
    return [{"node": node, "found": len(labels), **notes}]
