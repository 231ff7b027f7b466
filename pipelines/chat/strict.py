"""A JSON schema as servers take it where the reply is bound to it (``strict``).

Objects then have no other fields than those named, and all of them. A schema with fields that may
be missing, or with objects whose fields nobody named, is asked for without it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pipelines.types import JsonSchema

TAKEN = {
    *("type", "properties", "required", "additionalProperties", "items", "enum", "const", "anyOf"),
    *("description", "title", "pattern", "minItems", "maxItems"),
    *("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"),
}
MOST_VALUES = 1000
"""Values of all enumerations together; what servers take."""


def strict(schema: JsonSchema) -> JsonSchema | None:
    """The schema with closed objects; ``None`` where it cannot be asked for strictly.

    Examples
    --------
    >>> label = {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]}
    >>> strict(label)["additionalProperties"]
    False
    >>> strict({"type": "object"}) is None
    True
    """
    known = {f"#/$defs/{name}": part for name, part in schema.get("$defs", {}).items()}
    values: list[object] = []
    try:
        top = {key: value for key, value in schema.items() if key != "$defs"}
        closed = _closed(top, known, frozenset(), values)
    except ValueError:
        return None
    return closed if closed.get("type") == "object" and len(values) <= MOST_VALUES else None


def _closed(
    schema: Mapping[str, Any],
    known: Mapping[str, Any],
    inside: frozenset[str],
    values: list[object],
) -> JsonSchema:
    """With what it refers to in the place of each ``$ref``; ``values`` collects those of its
    enumerations, and ``inside`` holds the references that led here."""
    if name := schema.get("$ref"):
        if name not in known or name in inside:
            raise ValueError("a reference that cannot be replaced")
        beside = {key: value for key, value in schema.items() if key != "$ref"}
        return _closed({**known[name], **beside}, known, inside | {name}, values)
    if not schema.keys() <= TAKEN:
        raise ValueError("a keyword that strict schemas do not have")

    def inner(part: Mapping[str, Any]) -> JsonSchema:
        return _closed(part, known, inside, values)

    closed = dict(schema)
    values += schema.get("enum", ())
    if "anyOf" in schema:
        closed["anyOf"] = [inner(option) for option in schema["anyOf"]]
    if "items" in schema:
        closed["items"] = inner(schema["items"])
    types = schema.get("type", "")
    if "object" in (types if isinstance(types, list) else [types]):
        fields = schema.get("properties", {})
        if not fields or set(schema.get("required", ())) != set(fields):
            raise ValueError("fields that are not named, or may be missing")
        closed["properties"] = {name: inner(field) for name, field in fields.items()}
        closed["additionalProperties"] = False
    return closed
