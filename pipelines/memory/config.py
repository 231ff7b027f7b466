"""The settings of ``memory``, with their ranges."""

from __future__ import annotations

from pathlib import Path
from typing import Any, ClassVar, Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from pipelines.prompting import versions

PROMPTS = Path(__file__).parent / "prompts"


class MemoryConfig(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)
    RETIRED: ClassVar[frozenset[str]] = frozenset({"node_limit", "shown_limit"})
    """Settings that runs of earlier versions hold; they changed no answer and do nothing."""

    mode: Literal["oneshot", "agent"] = Field(
        default="agent",
        description="oneshot looks once; agent is a graph, and with a model it may look again.",
    )
    use_model: bool = Field(
        default=False, description="Let the configured language model read and answer."
    )
    prompt: str = Field(
        default="answer.v2", description="The version of the prompt that a language model gets."
    )
    context_tokens: int = Field(
        default=100_000,
        ge=4_000,
        le=2_000_000,
        description="A conversation up to this size is shown to a language model as a whole.",
    )
    max_rounds: int = Field(
        default=3, ge=1, le=10, description="How often a model may search before it must answer."
    )
    layers: bool = Field(
        default=False,
        description="Build topics, signals and threads, and name those in question in the trace.",
    )
    encoder: Literal["adapted", "plain"] = Field(
        default="adapted", description="MiniLM as it was adapted to questions, or as published."
    )
    candidate_limit: int = Field(
        default=200, ge=10, le=5000, description="Messages kept of the search, best first."
    )
    time_window: int = Field(
        default=0,
        ge=0,
        le=365,
        description="Only messages within so many days of those that a question names; 0: all.",
    )
    reranker: Literal["context", "none"] = Field(
        default="context", description="Rank by the learned model, or by the fused score alone."
    )
    threshold: float = Field(
        default=0.0, ge=0, le=1, description="A message with a lower chance is never returned."
    )
    precision_weight: float = Field(
        default=0.8,
        ge=0,
        le=2,
        description="What full precision is worth, if full recall is worth 1.",
    )
    price: float = Field(
        default=0.002,
        ge=0,
        le=1,
        description="Recall that one more returned message must be expected to bring.",
    )
    story_price: float = Field(
        default=0.003, ge=0, le=1, description="The same for a question about a development."
    )
    trace: Literal["minimal", "full"] = Field(
        default="full",
        description="minimal keeps the ids of each checkpoint, full their scores too.",
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
