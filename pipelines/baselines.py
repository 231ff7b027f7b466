"""Floors: what a system scores that has not read the conversation."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from pipelines.types import Case, Message, Output

TITLE_WORDS = 6
CONFIDENCE = 0.5


class NothingConfig(BaseModel):
    model_config = ConfigDict(extra="forbid")


class EverythingConfig(BaseModel):
    model_config = ConfigDict(extra="forbid")

    confidence: float = Field(
        default=CONFIDENCE, ge=0, le=1, description="The one confidence given to every requirement."
    )


class Nothing:
    """Never finds anything."""

    name = "nothing"
    version = "1"

    def __init__(self, config: NothingConfig) -> None:
        self.config: dict[str, Any] = config.model_dump(mode="json")

    def run(self, case: Case) -> Output:
        return {"requirements": [], "model": None}


class Everything:
    """Takes every message that says anything for a requirement of its own."""

    name = "everything"
    version = "1"

    def __init__(self, config: EverythingConfig) -> None:
        self._confidence = config.confidence
        self.config: dict[str, Any] = config.model_dump(mode="json")

    def run(self, case: Case) -> Output:
        spoken = [message for message in case.messages if message.content.strip()]
        requirements = [
            _as_requirement(message, number=number, confidence=self._confidence)
            for number, message in enumerate(spoken, start=1)
        ]
        return {"requirements": requirements, "model": None}


def _as_requirement(message: Message, *, number: int, confidence: float) -> dict[str, Any]:
    title = " ".join(message.content.split()[:TITLE_WORDS])
    return {
        "id": f"REQ-{number:03d}",
        "title": title,
        "type": "functional",
        "actor": "User",
        "action": message.content.strip(),
        "condition": None,
        "acceptance_criteria": [f"Provide {title}", f"Check {title}"],
        "priority": "must",
        "source_messages": [message.index],
        "rationale": f"Every message is taken for a requirement, so is message {message.index}",
        "confidence": confidence,
    }
