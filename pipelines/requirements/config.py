"""The settings of ``requirements-agent``, with their ranges."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Literal

from pipelines.requirements.local import LocalConfig
from pipelines.types import Settings, setting

NODES = ("extraction", "inference", "validation", "document")

Means = Literal["local", "model"]
Own = Literal["as above", "local", "model"]
AS_ABOVE: Own = "as above"


def _own(node: str) -> Any:
    return setting(AS_ABOVE, f"By what {node} works, if not as above.")


class PartsConfig(Settings):
    part_characters: int = setting(
        1_000_000,
        "The most characters that a language model reads at once, if its context takes as many; a "
        "longer conversation is read in parts.",
        least=1_000,
        most=1_000_000,
    )
    overlap_messages: int = setting(
        6, "Messages of a part that the next part begins with.", least=0, most=50
    )


class AgentConfig(LocalConfig, PartsConfig):
    RETIRED = frozenset({"stated_above", "conflict_above"})

    implementation: Means = setting(
        "local",
        "local works by rules, word lists and vectors; model asks the configured language model.",
    )
    extraction: Own = _own("extraction")
    inference: Own = _own("inference")
    validation: Own = _own("validation")
    document: Own = _own("the document")
    whole_way: bool = setting(False, "Goes on to the document, whatever the layer asks for.")
    infer_above: float = setting(
        0.6, "An inferred requirement is kept from this confidence on.", least=0, most=1
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
