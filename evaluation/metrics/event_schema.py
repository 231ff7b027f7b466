"""Whether events keep to the format, and to the types and roles of a schema."""

import unicodedata
from collections.abc import Collection, Mapping, Sequence
from typing import Any, TypeGuard

from labeling.domain.facts import Fact

Schema = Mapping[str, Sequence[str]]
"""Event types with their roles."""


def event_type(event: Mapping[str, Any]) -> str | None:
    kind = event.get("event_type", event.get("type"))
    return composed(kind).strip() or None if isinstance(kind, str) else None


def composed(text: str) -> str:
    """A letter with its accent is one letter, whichever way it was written."""
    return unicodedata.normalize("NFC", text)


def is_argument(argument: object) -> TypeGuard[Mapping[str, Any]]:
    return isinstance(argument, Mapping) and not argument.keys().isdisjoint(
        ("role", "argument", "span")
    )


def argument_words(argument: Mapping[str, Any]) -> Any:
    """The words of an argument, as text if they are a number; anything else as it is."""
    words = argument.get("argument")
    if words is None:
        span = argument.get("span")
        words = span.get("text") if isinstance(span, Mapping) else span
    number = isinstance(words, int | float) and not isinstance(words, bool)
    return str(words) if number else words


def schema_violation(value: Any, mode: str, schema: Schema) -> Fact | None:
    """The first thing in which events break the format; None if nothing does.

    An empty list complies: a text may tell of no event.
    """
    if not isinstance(value, list):
        return Fact("violation.not_a_list")
    schema = {composed(kind): [*map(composed, roles)] for kind, roles in schema.items()}
    return next(filter(None, (_event_violation(event, mode, schema) for event in value)), None)


def _event_violation(event: Any, mode: str, schema: Schema) -> Fact | None:
    if not isinstance(event, Mapping):
        return Fact("violation.event_not_an_object")
    kind = event_type(event)
    if not kind:
        return Fact("violation.no_event_type")
    if not isinstance(event.get("trigger"), str | Mapping | None):
        return Fact("violation.trigger_not_text", type=kind)
    if not isinstance(event.get("arguments"), list):
        return Fact("violation.no_arguments", type=kind)
    if mode == "schema_strict" and kind not in schema:
        return Fact("violation.unknown_type", type=kind)
    roles = schema.get(kind, ()) if mode == "schema_strict" else None
    violations = (_argument_violation(argument, kind, roles) for argument in event["arguments"])
    return next(filter(None, violations), None)


def _argument_violation(argument: Any, kind: str, roles: Collection[str] | None) -> Fact | None:
    if not isinstance(argument, Mapping):
        return Fact("violation.argument_not_an_object", type=kind)
    role = argument.get("role")
    if not isinstance(role, str) or not role.strip():
        return Fact("violation.no_role", type=kind)
    if "argument" not in argument and "span" not in argument:
        return Fact("violation.no_argument", role=role, type=kind)
    if not isinstance(argument_words(argument), str | None):
        return Fact("violation.argument_not_text", type=kind, role=role)
    if roles is not None and composed(role).strip() not in roles:
        return Fact("violation.unknown_role", type=kind, role=role)
    return None
