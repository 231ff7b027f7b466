"""What a page offers, by who reads it."""

from __future__ import annotations

from typing import Any

from django import template

from labeling.models import Membership, Project

register = template.Library()


READERS = {Membership.Role.LEAD, Membership.Role.RESEARCHER}


@register.filter
def leads(user: Any, project: Project) -> bool:
    """``{% if user|leads:project %}``: whether what only a lead may open is offered."""
    return Membership.Role.LEAD in _roles(user, project)


@register.filter
def reads(user: Any, project: Project) -> bool:
    """Whether the pages of the project are offered, not only its guidelines."""
    return not READERS.isdisjoint(_roles(user, project))


def _roles(user: Any, project: Project) -> set[str]:
    known: dict[int, set[str]] = project.__dict__.setdefault("_roles", {})
    if user.pk not in known:  # a page asks several times
        known[user.pk] = project.roles_of(user)
    return known[user.pk]
