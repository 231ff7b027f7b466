"""What every page knows about who reads it."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest
from django.utils.functional import SimpleLazyObject

from labeling.models import Assignment, Membership, Project

READERS = (Membership.Role.LEAD, Membership.Role.RESEARCHER)


def roles(request: HttpRequest) -> dict[str, Any]:
    """What to offer, asked only where a page uses it.

    ``reads_results``: the pages of runs. ``has_queue``: whether the first page is a queue.
    """
    user = getattr(request, "user", None)  # a request that failed early has none
    if user is None or not user.is_authenticated:
        return {"reads_results": False, "has_queue": False}
    return {
        "reads_results": SimpleLazyObject(
            lambda: Project.objects.with_role(user, *READERS).exists()
        ),
        "has_queue": SimpleLazyObject(lambda: has_queue(user)),
    }


def has_queue(user: Any) -> bool:
    """Annotators have a queue, and so does anyone who ever had an assignment."""
    return (
        Membership.objects.filter(user=user, role=Membership.Role.ANNOTATOR).exists()
        or Assignment.objects.with_checks().owned_by(user).exists()
    )
