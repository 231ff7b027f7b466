"""What a screen needs to draw the form of a label."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import NotRequired, TypedDict, cast, get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from labeling.schema.fields import Asked
from labeling.schema.layers import LAYERS

EventSchema = Mapping[str, Sequence[str]]
OpenFields = Mapping[str, Sequence[str]]
"""By layer, the fields that a submitted label may lack."""


class FormChoice(TypedDict):
    """One value of a field; see :func:`form_fields`."""

    value: str | int
    title: NotRequired[str]
    help: str


class FormField(TypedDict):
    """What the workspace needs to draw one field; see :func:`form_fields`."""

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
    """A layer of a project; see :func:`form_layers`."""

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

    Returns
    -------
    list of dict
        ``name``, ``title`` and ``key`` of the layer; ``prefix`` of the names by which its labels
        are shown (REQ, INF, ISS, …) and ``stores_id``: whether a label holds that name in ``id``
        (``REQ-001``) or is only shown by its position; ``heading``: the field that heads a label
        (of a span, show its text; of a reference, the heading of what it points to); ``badges``:
        the fields shown next to it; ``needs``: the layers its labels refer to; ``fields``: see
        :func:`form_fields`.
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
    """What the workspace needs to draw the form of one label, in order.

    Returns
    -------
    list of dict
        Every field has the same keys:

        ``name``, ``label``, ``help``
            The key in the label, and the words for people.
        ``widget``
            How it is filled in, which decides the value:

            ============== ===============================================================
            ``text``       a line of text; ``null`` if it is not required and left empty
            ``textarea``   the same, longer
            ``choice``     one ``value`` of ``choices`` (text or a whole number); without
                           choices (an event type or a role of a project that has no event
                           schema) any line of text
            ``lines``      a list of texts, one per line
            ``messages``   a list of 0-based message positions, each once
            ``confidence`` a number from 0 to 1
            ``references`` uids of labels of the layers in ``of``: a list of them if
                           ``many``, else one uid
            ``span``       ``{"start", "end", "text"}`` or ``null``; with ``within``
                           "message" also ``"message"``, the position of the message that
                           holds it. ``within`` "field": it is in that field of the
                           referenced requirement which the label's ``field`` names, whose
                           lines are joined by line feeds. Offsets count **code points**
                           (not UTF-16 units), ``end`` is exclusive, and ``text`` is
                           exactly the text between them
            ``phases``     an ordered list of objects with their own ``uid`` and the
                           fields in ``fields``
            ``arguments``  a list of objects with the fields in ``fields`` (no uid); a
                           role is one of ``roles[type]`` where the label's ``type`` is a
                           key of ``roles``
            ============== ===============================================================
        ``choices``
            ``[{"value", "title", "help"}]``; empty for other widgets. The ``title`` is what
            people read in their language; numbers and a project's own event types have none.
        ``required``, ``at_least``
            Whether a submitted label needs it, and how many items of a list.
        ``of``, ``many``, ``within``, ``fields``, ``roles``
            As said above; ``[]``, ``False``, ``""``, ``[]`` and ``{}`` where they do not apply.
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


@cache
def quotes_messages(layer: str) -> bool:
    """Whether labels of the layer hold words of messages."""
    spans = [field for field in form_fields(layer) if field["widget"] == "span"]
    return any(field["within"] == "message" for field in spans)


def _form_fields(shape: type[BaseModel]) -> list[FormField]:
    return [
        _form_field(name, info)
        for name, info in shape.model_fields.items()
        if info.json_schema_extra
    ]


def _form_field(name: str, info: FieldInfo) -> FormField:
    extra = cast(Asked, info.json_schema_extra)
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
