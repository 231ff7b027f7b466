"""What every page knows about who reads it."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest
from django.utils.functional import SimpleLazyObject

from config.version import VERSION
from labeling.models import Membership

READERS = frozenset({Membership.Role.LEAD, Membership.Role.RESEARCHER})


def roles(request: HttpRequest) -> dict[str, Any]:
    """What to offer, asked only where a page uses it.

    ``reads_results``: the pages of runs. ``has_queue``: whether the first page is a queue,
    as it is for annotators.
    ``version``: of Assay, for who has signed in.
    """
    user = getattr(request, "user", None)  # a request that failed early has none
    if user is None or not user.is_authenticated:
        return {"reads_results": False, "has_queue": False}
    held = SimpleLazyObject(lambda: roles_of(user))
    return {
        "version": VERSION,
        "reads_results": SimpleLazyObject(
            lambda: user.is_superuser or not READERS.isdisjoint(held)
        ),
        "has_queue": SimpleLazyObject(lambda: Membership.Role.ANNOTATOR in held),
    }


def roles_of(user: Any) -> set[str]:
    """The user's roles in any project."""
    return set(Membership.objects.filter(user=user).order_by().values_list("role", flat=True))
