from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from django.core.exceptions import ValidationError
from django.db import models

from labeling.domain.facts import Fact


def check_event_schema(value: Any) -> None:
    if not isinstance(value, dict) or not all(map(_is_texts, value.values())) or "" in value:
        raise ValidationError('Write event types with their roles: {"type": ["role", "role"]}.')


def _is_texts(roles: Any) -> bool:
    return isinstance(roles, list) and all(isinstance(role, str) and role for role in roles)


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


if TYPE_CHECKING:
    _FactText = models.TextField[Fact | None, Fact | None]
else:
    _FactText = models.TextField


class FactField(_FactText):
    """Why something failed, waits or is not there, as a ``Fact``; ``None`` if it is not so.

    The database and the migrations see a text: the JSON of the fact with sorted keys, so that
    equal facts are equal rows and a filter can compare them.
    """

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**{**kwargs, "null": True, "blank": True})

    def deconstruct(self) -> Any:
        name, _path, args, kwargs = super().deconstruct()
        return name, "django.db.models.TextField", args, kwargs

    def from_db_value(self, value: Any, expression: Any, connection: Any) -> Fact | None:
        return None if value is None else Fact.from_json(json.loads(value))

    def get_prep_value(self, value: Any) -> Any:
        if isinstance(value, Fact):
            value = json.dumps(value.as_json(), sort_keys=True)
        return super().get_prep_value(value)
