"""What a screen needs to draw the form of a label."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, NotRequired, TypedDict, cast, get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from labeling.schema.layers import LAYERS

EventSchema = Mapping[str, Sequence[str]]
OpenFields = Mapping[str, Sequence[str]]
"""By layer, the fields that a submitted label may lack."""


class FormChoice(TypedDict):
    value: str | int
    title: NotRequired[str]
    help: str


class FormField(TypedDict):
    name: str
    label: str
    help: str
    widget: str
    choices: list[FormChoice]
    required: bool
    at_least: int
    of: list[str]
    many: bool
    within: str
    fields: list[FormField]
    roles: dict[str, list[str]]


class FormLayer(TypedDict):
    name: str
    title: str
    key: str
    prefix: str
    stores_id: bool
    heading: str
    badges: list[str]
    needs: list[str]
    fields: list[FormField]


def form_layers(
    layers: Sequence[str],
    *,
    event_schema: EventSchema | None = None,
    open_fields: OpenFields | None = None,
) -> list[FormLayer]:
    """Each layer of a project: how its labels are called, headed and filled in.

    Labels are shown by ``prefix`` and a number; with ``stores_id`` a label holds that name in
    ``id`` (``REQ-001``), else it is its position. ``heading`` is the field that heads a label (of
    a span its text, of a reference the heading of what it points to), ``badges`` those next to it.
    """
    return [
        {
            "name": layer.name,
            "title": layer.title,
            "key": layer.key,
            "prefix": layer.prefix,
            "stores_id": layer.stores_id,
            "heading": layer.heading,
            "badges": list(layer.badges),
            "needs": list(layer.needs),
            "fields": [
                field | {"required": False, "at_least": 0}
                if field["name"] in (open_fields or {}).get(layer.name, ())
                else field
                for field in form_fields(layer.name, event_schema=event_schema)
            ],
        }
        for layer in (LAYERS[name] for name in layers)
    ]


def form_fields(layer: str, *, event_schema: EventSchema | None = None) -> list[FormField]:
    """What the workspace needs to draw the form of one label, in order; each has the same keys.

    ``widget`` decides the value:

    ============== ===============================================================
    ``text``       a line of text; ``null`` if it is not required and left empty
    ``textarea``   the same, longer
    ``choice``     one ``value`` of ``choices`` (text or a whole number); without
                   choices (a project without an event schema) any line of text
    ``lines``      a list of texts, one per line
    ``messages``   a list of 0-based message positions, each once
    ``confidence`` a number from 0 to 1
    ``references`` uids of labels of the layers in ``of``: a list if ``many``, else one
    ``span``       ``{"start", "end", "text"}`` or ``null``; ``within`` "message" also
                   ``"message"``, its position; ``within`` "field" in that field of the
                   referenced requirement which the label's ``field`` names, its lines
                   joined by line feeds. Offsets count **code points**, ``end`` is
                   exclusive, and ``text`` is exactly the text between them
    ``phases``     an ordered list of objects with their own ``uid`` and ``fields``
    ``arguments``  a list of objects with ``fields`` (no uid); a role is one of
                   ``roles[type]`` where the label's ``type`` is a key of ``roles``
    ============== ===============================================================

    A choice has a ``title`` in the reader's language; numbers and a project's own event types have
    none. ``required`` and ``at_least``: whether a submitted label needs it, and how many items.
    """
    fields = _form_fields(LAYERS[layer].label)
    if LAYERS[layer].project_types and event_schema:
        _offer_events(fields, event_schema)
    return fields


@cache
def reference_fields(layer: str) -> tuple[str, ...]:
    """The fields in which labels of the layer name other labels."""
    return tuple(field["name"] for field in form_fields(layer) if field["widget"] == "references")


@cache
def compared_fields(layer: str) -> tuple[FormField, ...]:
    """The fields in which labels that mean the same must say the same to be agreed."""
    remarks = LAYERS[layer].remarks
    return tuple(field for field in form_fields(layer) if field["name"] not in remarks)


def compared_names(layer: str) -> list[str]:
    return [field["name"] for field in compared_fields(layer)]


@cache
def span_fields(layer: str) -> tuple[str, ...]:
    """The fields in which labels of the layer quote words."""
    return tuple(field["name"] for field in form_fields(layer) if field["widget"] == "span")


def quotes_messages(layer: str) -> bool:
    """Whether labels of the layer hold words of messages."""
    spans = (field for field in form_fields(layer) if field["widget"] == "span")
    return any(field["within"] == "message" for field in spans)


def _form_fields(shape: type[BaseModel]) -> list[FormField]:
    return [
        _form_field(name, info)
        for name, info in shape.model_fields.items()
        if info.json_schema_extra
    ]


def _form_field(name: str, info: FieldInfo) -> FormField:
    extra = cast(dict[str, Any], info.json_schema_extra)
    widget = extra["widget"]
    nested = _item_shape(info) if widget in ("phases", "arguments") else None
    return {
        "name": name,
        "label": info.title or name,
        "help": info.description or "",
        "widget": widget,
        "choices": [_choice(**choice) for choice in extra["choices"]],
        "required": info.is_required(),
        "at_least": extra["at_least"],
        "of": list(extra["of"]),
        "many": widget == "references" and get_origin(info.annotation) is list,
        "within": extra["within"] if widget == "span" else "",
        "fields": _form_fields(nested) if nested else [],
        "roles": {},
    }


def _choice(value: str | int, help: str) -> FormChoice:
    if isinstance(value, str):
        return {"value": value, "title": value.replace("_", " "), "help": help}
    return {"value": value, "help": help}


def _item_shape(info: FieldInfo) -> type[BaseModel]:
    (item,) = get_args(info.annotation)
    return cast(type[BaseModel], item)


def _offer_events(fields: Sequence[FormField], event_schema: EventSchema) -> None:
    by_name = {field["name"]: field for field in fields}
    by_name["type"]["choices"] = [
        {"value": name, "help": ", ".join(roles)} for name, roles in event_schema.items()
    ]
    by_name["arguments"]["roles"] = {name: list(roles) for name, roles in event_schema.items()}
