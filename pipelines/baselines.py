"""Floors: the scores of a system that has not read the conversation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from pipelines.memory.retrieval import floors
from pipelines.requirements.document.markdown import plain
from pipelines.requirements.document.sections import SECTIONS
from pipelines.requirements.labels import Document, Flaw, Issue, Requirement, issue, name_of
from pipelines.types import Case, Config, Message, Output, Settings, setting

TITLE_WORDS = 6
CONFIDENCE = 0.5

FOLLOWS = {
    "security": "security",
    "performance": "non-functional",
    "scalability": "non-functional",
    "compliance": "constraint",
    "usability": "interface",
}
"""The usual type of a requirement for each kind of inference."""

FLAWS = {
    "ambiguous_verb": "action",
    "missing_actor": "actor",
    "too_broad": "action",
    "contradictory": "action",
    "pii": "action",
    "untestable": "acceptance_criteria",
}
"""The field that each kind of issue is usually about."""


class NothingConfig(Settings):
    """It has none."""


class EverythingConfig(Settings):
    confidence: float = setting(
        CONFIDENCE, "The one confidence given to every requirement.", least=0, most=1
    )


class Nothing:
    """Never finds anything."""

    name = "nothing"
    version = "2"

    def __init__(self, config: NothingConfig) -> None:
        self.config: Config = config.model_dump(mode="json")

    def run(self, case: Case) -> Output:
        if case.task in floors.TASKS:
            return floors.none_of(case)
        lists = ("requirements", "inferred_requirements", "issues", "events")
        return {name: [] for name in lists} | {"document": None, "model": None}


class Everything:
    """Finds all that could be found.

    Every message is a requirement, every kind of inference follows from it, and it has every flaw;
    the document repeats the whole conversation in every section. All messages answer all questions.
    """

    name = "everything"
    version = "3"

    def __init__(self, config: EverythingConfig) -> None:
        self._confidence = config.confidence
        self.config: Config = config.model_dump(mode="json")

    def run(self, case: Case) -> Output:
        if case.task in floors.TASKS:
            return floors.all_of(case)
        requirements = self._requirements(case)
        return {"model": None, **self._for_task(case, requirements)}

    def _for_task(self, case: Case, requirements: Sequence[Requirement]) -> Output:
        if case.task == "inference":
            return {"inferred_requirements": self._inferred(requirements)}
        if case.task == "validation":
            return {"issues": [_issue(label, kind) for label in requirements for kind in FLAWS]}
        if case.task == "end_to_end":
            return {"requirements": list(requirements), "document": _document(case)}
        return {"requirements": list(requirements)}

    def _requirements(self, case: Case) -> Sequence[Requirement]:
        """The case's requirements; if it has none, one for each message that isn't empty."""
        if case.requirements is not None:
            return cast(Sequence[Requirement], case.requirements)
        spoken = [message for message in case.messages if message.content.strip()]
        return [
            _as_requirement(message, number=number, confidence=self._confidence)
            for number, message in enumerate(spoken, start=1)
        ]

    def _inferred(self, requirements: Sequence[Requirement]) -> list[Requirement]:
        pairs = [(label, kind) for label in requirements for kind in FOLLOWS]
        return [
            _as_inferred(label, kind, number=number, confidence=self._confidence)
            for number, (label, kind) in enumerate(pairs, start=1)
        ]


def _as_requirement(message: Message, *, number: int, confidence: float) -> Requirement:
    label = _label(f"REQ-{number:03d}", " ".join(message.content.split()[:TITLE_WORDS]), confidence)
    return label | {
        "type": "functional",
        "actor": "User",
        "action": message.content.strip(),
        "source_messages": [message.index],
        "rationale": f"Every message is taken for a requirement, so is message {message.index}",
    }


def _as_inferred(base: Requirement, kind: str, *, number: int, confidence: float) -> Requirement:
    return _label(f"INF-{number:03d}", f"{base['title']} {kind.capitalize()}", confidence) | {
        "type": FOLLOWS[kind],
        "actor": "System",
        "action": f"Ensure {kind} of {base['title']}",
        "inference_type": kind,
        "triggered_by": [name_of(base)],
        "necessity": "necessary",
        "rationale": "From every requirement everything is taken to follow",
    }


def _label(number: str, title: str, confidence: float) -> Requirement:
    return {
        "id": number,
        "title": title,
        "condition": None,
        "acceptance_criteria": [f"Provide {title}", f"Check {title}"],
        "priority": "must",
        "confidence": confidence,
    }


def _issue(requirement: Requirement, kind: str) -> Issue:
    said = "Every requirement is taken to have every flaw"
    flaw = Flaw(kind, FLAWS[kind], None, said, "Write it anew")
    return {**issue(requirement, flaw), "severity": "warning"}


def _document(case: Case) -> Document:
    talk = "\n\n".join(plain(message.content) for message in case.messages)
    return {
        "title": "Everything",
        "sections": [
            {"id": section.id, "title": section.title, "body": talk} for section in SECTIONS
        ],
    }
