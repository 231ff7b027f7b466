"""The only place that turns gold rows into what pipelines and metrics take.

A gold item is a document (``GoldItem.content``); pipelines get a ``Case`` without any label, and
metrics get plain lists of labels. What a pipeline returned is checked and cleaned here once,
before it is stored, so that scoring and screens can rely on its shape.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from labeling.domain.matching import DEFAULT_SYNONYMS
from labeling.domain.schema import LAYERS
from labeling.models import GoldItem, Project
from pipelines.types import Case, Message

TEXT_FIELDS = ("title", "type", "actor", "action", "priority")


class MalformedOutput(Exception):
    """A pipeline returned something that cannot be scored; the text says what."""


def to_case(item: GoldItem) -> Case:
    """What a pipeline may see of a gold item: the conversation, never the labels."""
    content = item.content
    return Case(
        case_id=item.item_id,
        domain=content["domain"],
        messages=tuple(
            Message(
                index=message["index"],
                role=message["role"],
                speaker=message["speaker"] or message["role"],
                content=message["content"],
                time=message["time"],
            )
            for message in content["conversation"]
        ),
    )


def gold_labels(content: Mapping[str, Any], layer: str) -> list[dict[str, Any]]:
    labels: list[dict[str, Any]] = content["gold"].get(LAYERS[layer].key, [])
    return labels


def predicted_labels(output: Mapping[str, Any], layer: str) -> list[dict[str, Any]]:
    labels: list[dict[str, Any]] = output[LAYERS[layer].key]
    return labels


def synonyms_of(project: Project) -> list[list[str]]:
    """The groups that hold for every project, then the project's own."""
    return [sorted(group) for group in (*DEFAULT_SYNONYMS, *project.actor_synonyms)]


def checked_output(output: Any, layer: str, *, message_count: int) -> dict[str, Any]:
    """The output ready to be stored, or ``MalformedOutput``."""
    if not isinstance(output, Mapping):
        raise MalformedOutput("The pipeline returned no JSON object.")
    cleaned: dict[str, Any] = storable(output)
    key = LAYERS[layer].key
    labels = cleaned.get(key)
    if not isinstance(labels, list):
        raise MalformedOutput(f"The output has no list “{key}”.")
    for position, label in enumerate(labels):
        _check_requirement(label, path=f"{key}.{position}", message_count=message_count)
    return cleaned


def storable(value: Any) -> Any:
    """A copy that both databases can store as JSON.

    PostgreSQL takes neither NUL nor half of a surrogate pair, and neither takes NaN.
    """
    if isinstance(value, Mapping):
        return {storable(str(key)): storable(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [storable(item) for item in value]
    if isinstance(value, str):
        return value.replace("\x00", "\ufffd").encode("utf-8", "replace").decode()
    if value is None or isinstance(value, bool | int):
        return value
    if isinstance(value, float) and math.isfinite(value):
        return value
    raise MalformedOutput(f"The output holds {value!r}, which is no JSON value.")


def _check_requirement(label: Any, *, path: str, message_count: int) -> None:
    if not isinstance(label, Mapping):
        raise MalformedOutput(f"{path} is no JSON object.")
    for field in TEXT_FIELDS:
        if not isinstance(label.get(field), str | None):
            raise MalformedOutput(f"{path}.{field} is no text.")
    criteria = label.get("acceptance_criteria") or []
    if not isinstance(criteria, list) or not all(isinstance(text, str) for text in criteria):
        raise MalformedOutput(f"{path}.acceptance_criteria is no list of texts.")
    _check_sources(label.get("source_messages") or [], path, message_count)
    _check_confidence(label.get("confidence"), path)


def _check_sources(sources: Any, path: str, message_count: int) -> None:
    if not isinstance(sources, list) or not all(type(index) is int for index in sources):
        raise MalformedOutput(f"{path}.source_messages is no list of message positions.")
    beyond = [index for index in sources if not 0 <= index < message_count]
    if beyond:
        raise MalformedOutput(f"{path}.source_messages names message {beyond[0]}: there is none.")


def _check_confidence(confidence: Any, path: str) -> None:
    if confidence is None:
        return
    number = isinstance(confidence, int | float) and not isinstance(confidence, bool)
    if not number or not 0 <= confidence <= 1:
        raise MalformedOutput(f"{path}.confidence is no number between 0 and 1.")
