"""The settings of the build layers and their ranges."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field


class LayersConfig(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    implementation: Literal["local"] = Field(
        default="local", description="Embeddings and lexicons."
    )
    burst_gap_seconds: int = Field(
        default=1800, ge=60, le=604_800, description="A pause that long starts a new burst."
    )
    window: int = Field(
        default=4, ge=1, le=20, description="Messages compared on each side of a possible cut."
    )
    cut_depth: float = Field(
        default=0.5,
        ge=-2,
        le=4,
        description="How much deeper than usual a valley of cohesion must be, in deviations.",
    )
    least_messages: int = Field(
        default=4, ge=1, le=50, description="A burst is not cut into shorter topics."
    )
    most_messages: int = Field(
        default=40, ge=2, le=500, description="A longer topic is cut at its deepest valley."
    )
    same_topic: float = Field(
        default=0.55, ge=0, le=1, description="Similarity from which a topic is an earlier one."
    )
    silence_factor: float = Field(
        default=3.0, ge=1, le=100, description="A silence is that many times the usual pause."
    )
    anomaly_deviations: float = Field(
        default=2.0, ge=0.5, le=10, description="Sample deviations above the mean of an anomaly."
    )
    pet_names: tuple[str, ...] = Field(
        default=(), description="Usual forms of address; empty: those of the chat's first part."
    )
    link_similarity: float = Field(
        default=0.5, ge=0, le=1, description="Similarity from which two topics are linked."
    )
    neighbours: int = Field(
        default=3, ge=1, le=50, description="A topic is linked only to that many most similar."
    )
