"""Views of lists that people come back to by a name: their own alone, in the lists they read."""

from __future__ import annotations

from typing import Any

from django.db import transaction
from django.http import QueryDict

from evaluation.models import SavedView
from evaluation.models.saved_views import LONGEST_NAME, LONGEST_QUERY
from labeling.domain.errors import RuleError

MOST_VIEWS = 30
OF_ONE_PAGE = ("before", "after", "page")
"""Which page of a list is open: no part of a view."""


class ViewRefused(RuleError):
    """A view has no name, is too long, or there are too many."""

    code = "view_refused"


def of(user: Any, page: str) -> list[SavedView]:
    return list(SavedView.objects.filter(user=user.pk, page=page))


def query_of(text: str) -> str:
    """What is kept of an address: all but which page of the list is open."""
    query = QueryDict(text, mutable=True)
    for name in OF_ONE_PAGE:
        query.pop(name, None)
    return query.urlencode()


def save(user: Any, page: str, *, name: str, query: str) -> SavedView:
    """Under a name that the list has already, the view is replaced."""
    name, query = " ".join(name.split()), query_of(query)
    if not name or len(name) > LONGEST_NAME:
        raise ViewRefused("view.name", most=LONGEST_NAME)
    if len(query) > LONGEST_QUERY:
        raise ViewRefused("view.too_long")
    with transaction.atomic():
        others = SavedView.objects.filter(user=user.pk, page=page).exclude(name=name)
        if others.count() >= MOST_VIEWS:
            raise ViewRefused("view.too_many", most=MOST_VIEWS)
        view, _ = SavedView.objects.update_or_create(
            user=user, page=page, name=name, defaults={"query": query}
        )
        return view


def remove(user: Any, page: str, *, name: str) -> None:
    SavedView.objects.filter(user=user.pk, page=page, name=name).delete()
