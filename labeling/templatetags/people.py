"""What a page offers, by who reads it."""

from __future__ import annotations

from typing import Any

from django import template

from labeling.models import Membership, Project

register = template.Library()


@register.filter
def leads(user: Any, project: Project) -> bool:
    """``{% if user|leads:project %}``: whether what only a lead may open is offered."""
    return Membership.Role.LEAD in project.roles_of(user)
