"""Whether events keep to the format, and to the types and roles of a schema."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

Schema = Mapping[str, Sequence[str]]
"""Event types with their roles."""


def event_type(event: Mapping[str, Any]) -> str | None:
    kind = event.get("event_type", event.get("type"))
    return kind.strip() or None if isinstance(kind, str) else None


def schema_violation(value: Any, mode: str, schema: Schema) -> str:
    """The first thing in which events break the format; empty if nothing does.

    An empty list complies: a text may tell of no event.
    """
    if not isinstance(value, list):
        return "The answer is not a list of events."
    return next(filter(None, (_event_violation(event, mode, schema) for event in value)), "")


def _event_violation(event: Any, mode: str, schema: Schema) -> str:
    if not isinstance(event, Mapping):
        return "An event is not a JSON object."
    kind = event_type(event)
    if not kind:
        return "An event has no event_type."
    if not isinstance(event.get("arguments"), list):
        return f"An event of type {kind} has no list of arguments."
    if mode == "schema_strict" and kind not in schema:
        return f"There is no event type {kind}."
    roles = schema.get(kind, ()) if mode == "schema_strict" else None
    violations = (_argument_violation(argument, kind, roles) for argument in event["arguments"])
    return next(filter(None, violations), "")


def _argument_violation(argument: Any, kind: str, roles: Collection[str] | None) -> str:
    if not isinstance(argument, Mapping):
        return f"An argument of {kind} is not a JSON object."
    role = argument.get("role")
    if not isinstance(role, str) or not role.strip():
        return f"An argument of {kind} has no role."
    if "argument" not in argument and "span" not in argument:
        return f"The role {role} of {kind} has no argument."
    if roles is not None and role.strip() not in roles:
        return f"The event type {kind} has no role {role}."
    return ""
