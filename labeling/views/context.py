"""What every page knows about who reads it."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest
from django.utils.functional import SimpleLazyObject

from labeling.models import Membership, Project

READERS = (Membership.Role.LEAD, Membership.Role.RESEARCHER)


def roles(request: HttpRequest) -> dict[str, Any]:
    """``reads_results``: whether to offer the pages of runs; asked only where a page uses it."""
    user = getattr(request, "user", None)  # a request that failed early has none
    if user is None or not user.is_authenticated:
        return {"reads_results": False}
    return {
        "reads_results": SimpleLazyObject(
            lambda: Project.objects.with_role(user, *READERS).exists()
        )
    }
