"""What every view of the API does with a request: who asks, and for what."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, TypeVar, cast

from django.contrib.auth.models import User
from django.core.exceptions import ValidationError as FormError
from django.db.models import QuerySet
from django.utils.translation import gettext as _
from rest_framework import serializers
from rest_framework.request import Request

Shape = type[serializers.Serializer[Any]]
Given = TypeVar("Given")
Value = TypeVar("Value")


def user_of(request: Request) -> User:
    """The signed-in user: permissions have let nobody else through."""
    return cast(User, request.user)


def sent(request: Request, shape: Shape, **options: Any) -> dict[str, Any]:
    """The checked fields of the body."""
    return _checked(shape(data=request.data, **options))


def asked(request: Request, shape: Shape, **options: Any) -> dict[str, Any]:
    """The checked parameters of the address."""
    return _checked(shape(data=request.query_params, **options))


def _checked(fields: serializers.Serializer[Any]) -> dict[str, Any]:
    fields.is_valid(raise_exception=True)
    return dict(fields.validated_data)


def checked_by(check: Callable[[Given], Value], value: Given) -> Value:
    """What a check of forms makes of a value; what it refuses is wrong with a field here."""
    try:
        return check(value)
    except FormError as error:
        raise serializers.ValidationError(error.messages) from None


def person(field: str, username: str, among: QuerySet[User]) -> User:
    (chosen,) = people(field, [username], among)
    return chosen


def people(field: str, usernames: Iterable[str], among: QuerySet[User]) -> list[User]:
    """These people in the order of their names; 400 where somebody is not among those."""
    names = list(dict.fromkeys(usernames))
    known = {user.get_username(): user for user in among.filter(username__in=names)}
    unknown = [name for name in names if name not in known]
    if unknown:
        sentence = _("Nobody who could be chosen here has this user name: {names}.")
        raise serializers.ValidationError({field: [sentence.format(names=", ".join(unknown))]})
    return [known[name] for name in sorted(names)]
