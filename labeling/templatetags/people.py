"""What a page offers, by who reads it."""

from __future__ import annotations

from typing import Any

from django import template

from labeling.models import Membership, Project

register = template.Library()


@register.filter
def leads(user: Any, project: Project) -> bool:
    """``{% if user|leads:project %}``: whether what only a lead may open is offered."""
    known = project.__dict__.setdefault("_led", {})  # a page asks several times
    if user.pk not in known:
        known[user.pk] = Membership.Role.LEAD in project.roles_of(user)
    leading: bool = known[user.pk]
    return leading
