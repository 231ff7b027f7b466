"""The settings of ``memory``, with their ranges."""

from __future__ import annotations

from pathlib import Path
from typing import Any, ClassVar, Literal

from pydantic import BaseModel, ConfigDict, field_validator, model_validator

from pipelines.prompting import versions
from pipelines.types import setting

PROMPTS = Path(__file__).parent / "prompts"


class MemoryConfig(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)
    RETIRED: ClassVar[frozenset[str]] = frozenset({"node_limit", "shown_limit"})
    """Settings that runs of earlier versions hold; they changed no answer and do nothing."""

    mode: Literal["oneshot", "agent"] = setting(
        "agent", "oneshot looks once; agent is a graph, and with a model it may look again."
    )
    use_model: bool = setting(False, "Let the configured language model read and answer.")
    prompt: str = setting("answer.v2", "The version of the prompt that a language model gets.")
    context_tokens: int = setting(
        100_000,
        "A conversation up to this size is shown to a language model as a whole.",
        least=4_000,
        most=2_000_000,
    )
    max_rounds: int = setting(
        3, "How often a model may search before it must answer.", least=1, most=10
    )
    layers: bool = setting(
        False, "Build topics, signals and threads, and name those in question in the trace."
    )
    encoder: Literal["adapted", "plain"] = setting(
        "adapted", "MiniLM as it was adapted to questions, or as published."
    )
    candidate_limit: int = setting(
        200, "Messages kept of the search, best first.", least=10, most=5000
    )
    time_window: int = setting(
        0,
        "Only messages within so many days of those that a question names; 0: all.",
        least=0,
        most=365,
    )
    reranker: Literal["context", "none"] = setting(
        "context", "Rank by the learned model, or by the fused score alone."
    )
    threshold: float = setting(
        0.0, "A message with a lower chance is never returned.", least=0, most=1
    )
    precision_weight: float = setting(
        1.1, "What full precision is worth, if full recall is worth 1.", least=0, most=2
    )
    price: float = setting(
        0.001, "Recall that one more returned message must be expected to bring.", least=0, most=1
    )
    story_price: float = setting(
        0.003, "The same for a question about a development.", least=0, most=1
    )
    trace: Literal["minimal", "full"] = setting(
        "full", "minimal keeps the ids of each checkpoint, full their scores too."
    )

    @model_validator(mode="before")
    @classmethod
    def _without_retired(cls, given: Any) -> Any:
        known = isinstance(given, dict)
        return {k: v for k, v in given.items() if k not in cls.RETIRED} if known else given

    @field_validator("prompt")
    @classmethod
    def _known_prompt(cls, name: str) -> str:
        if name not in (known := versions(PROMPTS, "answer")):
            raise ValueError(f"known are {', '.join(known)}")
        return name
