"""Who may see runs at all: those who read results somewhere."""

from __future__ import annotations

from typing import Any

from django.http import Http404

from labeling.models import Membership, Project


def require_reader(user: Any) -> None:
    """For everybody but leads, researchers and superusers, runs do not exist."""
    roles = (Membership.Role.LEAD, Membership.Role.RESEARCHER)
    if not user.is_superuser and not Project.objects.with_role(user, *roles).exists():
        raise Http404
