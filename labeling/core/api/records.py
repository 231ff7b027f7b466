"""What a record of the domain looks like in the API: its own fields, never declared again.

A record is a dataclass, a named tuple or a typed dictionary.
"""

from __future__ import annotations

import types
from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, fields, is_dataclass
from datetime import datetime
from functools import cache
from typing import (
    Annotated,
    Any,
    Literal,
    NotRequired,
    Union,
    get_args,
    get_origin,
    get_type_hints,
    is_typeddict,
)

from django.db.models import Model
from drf_spectacular.drainage import set_override
from rest_framework import serializers

from labeling.domain.facts import Fact
from labeling.words import words_of


class FactField(serializers.CharField):
    """A fact, or the text of an older row, as a sentence; empty where there is none."""

    def get_attribute(self, instance: Any) -> str:
        return words_of(super().get_attribute(instance))

    def to_representation(self, value: Any) -> str:
        return words_of(value)


PLAIN: Mapping[Any, type[serializers.Field[Any, Any, Any, Any]]] = {
    bool: serializers.BooleanField,
    int: serializers.IntegerField,
    float: serializers.FloatField,
    str: serializers.CharField,
    datetime: serializers.DateTimeField,
    Fact: FactField,
}


@cache
def serializer_of(record: type) -> type[serializers.Serializer[Any]]:
    """A text beside a type (``Annotated``) says what the field means.

    Examples
    --------
    >>> from labeling.agreement.rules.agreement import ContentAgreement
    >>> serializer_of(ContentAgreement)().fields["low"].allow_null
    True
    """
    hints = get_type_hints(record, include_extras=True)
    own = {name: _field(hint) for name, hint in hints.items() if not name.startswith("_")}
    members = {**own, "__doc__": record.__doc__, "__module__": __name__}
    return type(f"{record.__name__}Out", (serializers.Serializer,), members)


def serializer_with(
    name: str, record: type, /, **more: serializers.Field[Any, Any, Any, Any] | None
) -> type[serializers.Serializer[Any]]:
    """The same with what the API says beside the record, under a name for the description.

    What is None here the API leaves out.
    """
    own: Any = serializer_of(record)._declared_fields
    shown = {key: field for key, field in (own | more).items() if field is not None}
    members = {**shown, "__doc__": record.__doc__, "__module__": __name__}
    return type(name, (serializers.Serializer,), members)


def body_of(
    record: type, /, *names: str, **more: serializers.Field[Any, Any, Any, Any]
) -> type[serializers.Serializer[Any]]:
    """What a request says of a record that is made from it: these of its fields, with the same
    defaults, and what the API asks for beside them."""
    hints, own = get_type_hints(record, include_extras=True), {}
    for each in fields(record):
        if each.name in names:
            factory = each.default_factory
            default = each.default if factory is MISSING else factory()
            said: dict[str, Any] = {"default": default}
            if isinstance(default, str):
                said["allow_blank"] = True
            own[each.name] = _field(hints[each.name], **said)
    members = {**own, **more, "__doc__": record.__doc__, "__module__": __name__}
    return type(f"{record.__name__}In", (serializers.Serializer,), members)


def row_of(
    name: str,
    model: type[Model],
    /,
    *fields: str,
    base: Any = None,
    **more: serializers.Field[Any, Any, Any, Any],
) -> type[serializers.Serializer[Any]]:
    """A row of the database: fields of its model by their names, and what is said beside them.

    ``base`` is a shorter shape of the same, whose fields come first.
    """
    shown = [*(base.Meta.fields if base else ()), *fields, *more]
    meta = type("Meta", (), {"model": model, "fields": list(dict.fromkeys(shown))})
    members = {**more, "Meta": meta, "__module__": __name__}
    return type(name, (base or serializers.ModelSerializer,), members)


def username(source: str, **options: Any) -> serializers.CharField:
    """Of whoever did it; null where that is nobody."""
    return serializers.CharField(
        source=f"{source}.username", default=None, allow_null=True, read_only=True, **options
    )


def computed(
    kind: type[serializers.Field[Any, Any, Any, Any]], how: Callable[[Any], Any], **options: Any
) -> serializers.Field[Any, Any, Any, Any]:
    """A field that is worked out from the whole row."""

    def get_attribute(self: Any, row: Any) -> Any:
        return how(row)

    made = type(kind.__name__, (kind,), {"get_attribute": get_attribute, "__module__": __name__})
    set_override(made, "suppress_collision_warning", True)  # it describes the same record
    return made(read_only=True, **options)


def _field(hint: Any, **said: Any) -> serializers.Field[Any, Any, Any, Any]:
    origin, inner = get_origin(hint), get_args(hint)
    if origin is Annotated:
        return _field(inner[0], **said, help_text=next(t for t in inner[1:] if isinstance(t, str)))
    if origin is NotRequired:
        return _field(inner[0], **said, required=False)
    if origin in (Union, types.UnionType):
        (one,) = (each for each in inner if each is not type(None))
        return _field(one, **said, allow_null=True)
    if origin is Literal:
        return serializers.ChoiceField(inner, **said)
    if origin in (list, tuple, Sequence, dict, Mapping):
        return _several(origin, inner, said)
    if hint in PLAIN:
        return PLAIN[hint](**said)
    if _is_record(hint):
        return serializer_of(hint)(**said)
    return serializers.JSONField(**said)


def _several(origin: Any, inner: Any, said: dict[str, Any]) -> Any:
    if origin in (dict, Mapping):
        if inner and inner[1] is not Any:
            said["child"] = _field(inner[1])
        return serializers.DictField(**said)
    if _is_record(inner[0]):
        return serializer_of(inner[0])(many=True, **said)
    return serializers.ListField(child=_field(inner[0]), **said)


def _is_record(kind: Any) -> bool:
    is_one = is_dataclass(kind) or is_typeddict(kind) or hasattr(kind, "_fields")
    return is_one and kind not in PLAIN
