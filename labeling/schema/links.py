"""What a label points to must be there: messages, pieces of text, other labels, event types.

What can be true only of a finished label (a reference to a label that was deleted since, a role
that another event type has) is asked of complete payloads alone: it never blocks a draft.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple, TypedDict

from labeling.domain.facts import Fact, StoredFact
from labeling.schema.forms import EventSchema, form_fields
from labeling.schema.layers import Layer

NOT_THERE = Fact("schema.label_not_there")


class ProblemRow(TypedDict):
    path: str
    message: StoredFact


class Problem(NamedTuple):
    """What is wrong with a payload, and where: ``requirements.0.title``."""

    path: str
    fact: Fact

    def as_json(self) -> ProblemRow:
        return {"path": self.path, "message": self.fact.as_json()}


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What a label may point to; ``labels`` by layer and uid."""

    labels: Mapping[str, Mapping[str, Mapping[str, Any]]]
    message_count: int
    messages: Sequence[str] | None
    event_schema: EventSchema
    complete: bool


def link_problems(
    layer: Layer, label: Mapping[str, Any], path: str, around: Surroundings
) -> Iterator[Problem]:
    yield from _message_problems(label, path, around)
    if not around.complete:
        return
    yield from _reference_problems(layer, label, path, around)
    yield from _quote_problems(layer, label, path, around)
    if layer.project_types and around.event_schema:
        yield from _event_problems(label, path, around.event_schema)


def _message_problems(value: Any, path: str, around: Surroundings) -> Iterator[Problem]:
    """Every message and every span, anywhere in the label."""
    if isinstance(value, list):
        for position, item in enumerate(value):
            yield from _message_problems(item, f"{path}.{position}", around)
    if not isinstance(value, Mapping):
        return
    if {"message", "start", "end"} <= value.keys():
        yield from _span_problems(value, path, around)
    for name, item in value.items():
        if name in ("source_messages", "evidence") and isinstance(item, list):
            yield from _position_problems(item, f"{path}.{name}", around.message_count)
        else:
            yield from _message_problems(item, f"{path}.{name}", around)


def _position_problems(indices: list[Any], path: str, message_count: int) -> Iterator[Problem]:
    for index in indices:
        if isinstance(index, int) and index >= message_count:
            yield Problem(path, Fact("schema.no_message", index=index))


def _span_problems(span: Mapping[str, Any], path: str, around: Surroundings) -> Iterator[Problem]:
    index, start, end = span["message"], span["start"], span["end"]
    if not all(type(number) is int and number >= 0 for number in (index, start, end)):
        return  # said by its shape
    if index >= around.message_count:
        yield Problem(path, Fact("schema.no_message", index=index))
    elif around.messages is not None and around.messages[index][start:end] != span.get("text"):
        yield Problem(path, Fact("schema.other_text", index=index))


def _reference_problems(
    layer: Layer, label: Mapping[str, Any], path: str, around: Surroundings
) -> Iterator[Problem]:
    for field, layers in _references(layer.name):
        there = {uid for name in layers for uid in around.labels.get(name, {})}
        value = label.get(field)
        for uid in value if isinstance(value, list) else [value]:
            if isinstance(uid, str) and uid and uid not in there:
                yield Problem(f"{path}.{field}", NOT_THERE)


@cache
def _references(layer: str) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """The fields that name other labels, and the layers of these."""
    fields = form_fields(layer)
    return tuple(
        (each["name"], tuple(each["of"])) for each in fields if each["widget"] == "references"
    )


def _quote_problems(
    layer: Layer, label: Mapping[str, Any], path: str, around: Surroundings
) -> Iterator[Problem]:
    """Words of the label that this one is about, where it quotes any."""
    span = label.get("span")
    named = (around.labels.get(name, {}).get(str(label.get("requirement"))) for name in layer.needs)
    requirement = next((each for each in named if each is not None), None)
    if not _quotes_fields(layer.name) or requirement is None or not isinstance(span, Mapping):
        return
    text = field_text(requirement.get(str(label.get("field"))))
    start, end = span.get("start"), span.get("end")
    if type(start) is int and type(end) is int and text[start:end] != span.get("text"):
        yield Problem(f"{path}.span", Fact("schema.other_text_in_field"))


@cache
def _quotes_fields(layer: str) -> bool:
    return any(field["within"] == "field" for field in form_fields(layer))


def field_text(value: Any) -> str:
    """A field of a requirement as one text; several lines are joined by line feeds."""
    if isinstance(value, list):
        return "\n".join(map(str, value))
    return "" if value is None else str(value)


def _event_problems(
    label: Mapping[str, Any], path: str, event_schema: EventSchema
) -> Iterator[Problem]:
    name = label.get("type")
    if not isinstance(name, str) or not name:
        return
    if name not in event_schema:
        yield Problem(f"{path}.type", Fact("schema.no_event_type", name=name))
        return
    arguments = label.get("arguments")
    for position, argument in enumerate(arguments if isinstance(arguments, list) else []):
        role = argument.get("role") if isinstance(argument, Mapping) else None
        if isinstance(role, str) and role and role not in event_schema[name]:
            yield Problem(
                f"{path}.arguments.{position}.role",
                Fact("schema.no_role", name=name, role=role),
            )
