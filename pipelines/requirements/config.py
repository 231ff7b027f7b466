"""The settings of ``requirements-agent``, with their ranges."""

from __future__ import annotations

from pydantic import ConfigDict, Field

from pipelines.requirements.local import LocalConfig


class AgentConfig(LocalConfig):
    model_config = ConfigDict(extra="forbid", frozen=True)

    infer_above: float = Field(
        default=0.6,
        ge=0,
        le=1,
        description="An inferred requirement is kept from this confidence on.",
    )
    stated_above: float = Field(
        default=0.75,
        ge=0,
        le=1,
        description="Similarity above which a stated requirement says the inferred one already.",
    )
    conflict_above: float = Field(
        default=0.75,
        ge=0,
        le=1,
        description="Similarity above which two requirements are about the same and may conflict.",
    )
