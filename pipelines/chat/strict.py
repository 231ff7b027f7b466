"""A JSON schema as servers take it where the reply is bound to it (``strict``).

Objects then have no other fields than those named, and all of them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pipelines.types import JsonSchema


def strict(schema: JsonSchema) -> JsonSchema | None:
    """The schema with closed objects; ``None`` where a field may be missing or has no name.

    Examples
    --------
    >>> label = {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]}
    >>> strict(label)["additionalProperties"]
    False
    >>> strict({"type": "object"}) is None
    True
    """
    top = {key: value for key, value in schema.items() if key != "$defs"}
    try:
        closed: JsonSchema = _closed(top, schema.get("$defs", {}))
    except (LookupError, RecursionError):  # it refers to what is not there, or to itself
        return None
    return closed


def _closed(part: Any, known: Mapping[str, Any]) -> Any:
    """With what it refers to in the place of each ``$ref``."""
    if isinstance(part, list):
        return [_closed(each, known) for each in part]
    if not isinstance(part, dict):
        return part
    if isinstance(name := part.get("$ref"), str):
        return _closed(known[name.rpartition("/")[2]], known)
    closed = {key: _closed(value, known) for key, value in part.items()}
    if part.get("type") == "object":
        fields = part.get("properties")
        if not fields or set(part.get("required", ())) != set(fields):
            raise LookupError("fields that are not named, or may be missing")
        closed["additionalProperties"] = False
    return closed
