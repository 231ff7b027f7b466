"""The settings of ``requirements-agent``, with their ranges."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from pipelines.requirements.local import LocalConfig

NODES = ("extraction", "inference", "validation", "document")

Means = Literal["local", "model"]
Own = Literal["as above", "local", "model"]
AS_ABOVE: Own = "as above"


def _own(node: str) -> Any:
    return Field(default=AS_ABOVE, description=f"By what {node} works, if not as above.")


class PartsConfig(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    part_characters: int = Field(
        default=1_000_000,
        ge=1_000,
        le=1_000_000,
        description="The most characters that a language model reads at once, if its context takes "
        "as many; a longer conversation is read in parts.",
    )
    overlap_messages: int = Field(
        default=6,
        ge=0,
        le=50,
        description="Messages of a part that the next part begins with.",
    )


class AgentConfig(LocalConfig, PartsConfig):
    model_config = ConfigDict(extra="forbid", frozen=True)

    implementation: Means = Field(
        default="local",
        description="local works by rules, word lists and vectors; model asks the configured "
        "language model.",
    )
    extraction: Own = _own("extraction")
    inference: Own = _own("inference")
    validation: Own = _own("validation")
    document: Own = _own("the document")
    whole_way: bool = Field(
        default=False,
        description="Goes on to the document, whatever the layer asks for.",
    )
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


def means_of(config: Mapping[str, Any]) -> dict[str, str]:
    """By what each node works, from a full configuration."""
    return {
        node: config["implementation"] if config[node] == AS_ABOVE else config[node]
        for node in NODES
    }


def asks_model(config: Mapping[str, Any], nodes: Iterable[str] = NODES) -> bool:
    means = means_of(config)
    return any(means[node] == "model" for node in nodes)
