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
    try:
        closed = _closed(inlined(schema))
    except ValueError:
        return None
    of_object = closed.get("type") == "object"
    return closed if of_object and _n_values(closed) <= MOST_VALUES else None


def inlined(schema: JsonSchema) -> JsonSchema:
    """The schema with each ``$ref`` replaced by what it names in ``$defs``.

    Raises
    ------
    ValueError
        For a reference to anything else, or to a definition that holds itself.

    Examples
    --------
    >>> inlined({"type": "array", "items": {"$ref": "#/$defs/A"}, "$defs": {"A": {"type": "null"}}})
    {'type': 'array', 'items': {'type': 'null'}}
    """
    known = {f"#/$defs/{name}": part for name, part in schema.get("$defs", {}).items()}

    def replaced(part: Any, inside: frozenset[str]) -> Any:
        if isinstance(part, list):
            return [replaced(one, inside) for one in part]
        if not isinstance(part, Mapping):
            return part
        if name := part.get("$ref"):
            if name not in known or name in inside:
                raise ValueError("a reference that cannot be replaced")
            beside = {key: value for key, value in part.items() if key != "$ref"}
            return replaced({**known[name], **beside}, inside | {name})
        return {key: replaced(value, inside) for key, value in part.items() if key != "$defs"}

    result: JsonSchema = replaced(schema, frozenset())
    return result


def _closed(schema: Mapping[str, Any]) -> JsonSchema:
    if not schema.keys() <= TAKEN:
        raise ValueError("a keyword that strict schemas do not have")
    closed = dict(schema)
    if "anyOf" in schema:
        closed["anyOf"] = [_closed(option) for option in schema["anyOf"]]
    if "items" in schema:
        closed["items"] = _closed(schema["items"])
    types = schema.get("type", "")
    if "object" in (types if isinstance(types, list) else [types]):
        fields = schema.get("properties", {})
        if not fields or set(schema.get("required", ())) != set(fields):
            raise ValueError("fields that are not named, or may be missing")
        closed["properties"] = {name: _closed(field) for name, field in fields.items()}
        closed["additionalProperties"] = False
    return closed


def _n_values(schema: Mapping[str, Any]) -> int:
    inner = [*schema.get("anyOf", ()), *schema.get("properties", {}).values()]
    inner += [schema["items"]] if "items" in schema else []
    return len(schema.get("enum", ())) + sum(map(_n_values, inner))
