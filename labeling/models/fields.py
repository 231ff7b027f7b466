from __future__ import annotations

import json
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.db import models


def check_event_schema(value: Any) -> None:
    if not isinstance(value, dict) or not all(map(_is_texts, value.values())) or "" in value:
        raise ValidationError('Write event types with their roles: {"type": ["role", "role"]}.')


def _is_texts(roles: Any) -> bool:
    return isinstance(roles, list) and all(isinstance(role, str) and role for role in roles)


class _InOrder(forms.JSONField):
    """Django's own field compares with sorted keys, and would not notice a new order."""

    def has_changed(self, initial: Any, data: Any) -> bool:
        if super().has_changed(initial, data):
            return True
        return json.dumps(initial) != json.dumps(self.to_python(data))


class EventSchemaField(models.JSONField):
    """Event types with their roles, ``{type: [role, …]}``, in the order they were given.

    The forms that annotators fill in follow this order. PostgreSQL sorts the keys of a document,
    so it is stored as a list: ``[[type, [role, …]], …]``.
    """

    default_validators = [check_event_schema]

    def get_prep_value(self, value: Any) -> Any:
        if isinstance(value, dict):
            value = [[name, roles] for name, roles in value.items()]
        return super().get_prep_value(value)

    def from_db_value(self, value: Any, expression: Any, connection: Any) -> Any:
        stored = super().from_db_value(value, expression, connection)
        return dict(stored) if isinstance(stored, list) else stored

    def formfield(self, **kwargs: Any) -> Any:
        return super().formfield(**{"form_class": _InOrder, **kwargs})
