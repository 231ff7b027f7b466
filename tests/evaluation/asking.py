"""A pipeline that asks a language model two things about each case."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict

from evaluation.models import CaseRun, Run
from pipelines import registry
from pipelines.llm import ChatMessage, ChatModel
from pipelines.types import Case, Output

SCHEMA = {"type": "object", "properties": {"label": {"type": "string"}}, "required": ["label"]}
ONE_CALL = 0.0003  # (100 × 2 + 10 × 10) / 1 000 000


class NoConfig(BaseModel):
    model_config = ConfigDict(extra="forbid")


class Asking:
    """Asks the model two things about each case, the second one with a schema."""

    name, version = "asking", "1"
    config: dict[str, Any] = {}

    def __init__(self, model: ChatModel) -> None:
        self.model = model

    def run(self, case: Case) -> Output:
        for number, schema in enumerate((None, SCHEMA)):
            question = f"{case.case_id}, question {number}"
            self.model.complete([ChatMessage("user", question)], schema=schema)
        return {"requirements": [], "model": self.model.id}


def make_asking(config: Any, tools: registry.Tools) -> Asking:
    assert tools.model is not None
    return Asking(tools.model)


ENTRY = registry.Entry(
    name="asking",
    title="Asking",
    summary="Asks a language model.",
    layers=("extraction",),
    config=NoConfig,
    make=make_asking,
    needs_model=True,
)


def states(run: Run) -> list[str]:
    return list(CaseRun.objects.filter(run=run).order_by("pk").values_list("state", flat=True))
