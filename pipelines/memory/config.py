"""The settings of ``memory``, with their ranges."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field


class MemoryConfig(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    mode: Literal["oneshot", "agent"] = Field(
        default="agent",
        description="oneshot looks once; agent judges what it found and looks again.",
    )
    use_model: bool = Field(
        default=False,
        description="Let the configured language model read questions, judge and write phases.",
    )
    max_rounds: int = Field(
        default=3, ge=1, le=5, description="How often the agent judges before it must answer."
    )
    candidate_limit: int = Field(
        default=200, ge=10, le=5000, description="Messages kept of each search, best first."
    )
    node_limit: int = Field(
        default=80,
        ge=1,
        le=500,
        description="Topics that a language model reads and the trace lists, best first.",
    )
    shown_limit: int = Field(
        default=40, ge=5, le=200, description="Candidates that a language model gets to read."
    )
    precision_weight: float = Field(
        default=0.5,
        ge=0,
        le=2,
        description="What full precision is worth, if full recall is worth 1.",
    )
    price: float = Field(
        default=0.0055,
        ge=0,
        le=1,
        description="Recall that one more returned message must be expected to bring.",
    )
    trace: Literal["minimal", "full"] = Field(
        default="full",
        description="minimal keeps the ids of each checkpoint, full their scores and nodes too.",
    )
