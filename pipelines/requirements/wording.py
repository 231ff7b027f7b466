"""What the nodes after extraction need of a requirement: its name, its text, its fields."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

Requirement = Mapping[str, Any]

FIELDS = ("title", "actor", "action", "condition", "acceptance_criteria", "rationale")
"""The fields that hold a writer's own words."""


def name_of(requirement: Requirement) -> str:
    """By which labels refer to it: what people gave it, else its number."""
    return str(requirement.get("uid") or requirement.get("id") or "")


def text_of(requirement: Requirement) -> str:
    """What it is about; the same text that requirements are compared by."""
    return f"{requirement.get('title') or ''} {requirement.get('action') or ''}".strip()


def field_text(requirement: Requirement, field: str) -> str:
    """A field as one text; several lines are joined by line feeds."""
    value = requirement.get(field)
    if isinstance(value, list | tuple):
        return "\n".join(map(str, value))
    return "" if value is None else str(value)
