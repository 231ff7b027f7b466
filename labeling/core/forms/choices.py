"""What a field offers, where that is known only when the form is made."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django import forms
from django.db.models import QuerySet
from django.utils.translation import gettext_lazy as _

ANY = ("", _("any"))


def offer(form: forms.BaseForm, name: str, offered: QuerySet[Any] | Iterable[Any]) -> None:
    """The rows of a queryset, pairs of value and title, or values that are their own titles."""
    field: Any = form.fields[name]
    if isinstance(offered, QuerySet):
        field.queryset = offered
    else:
        field.choices = [each if isinstance(each, tuple) else (each, each) for each in offered]
