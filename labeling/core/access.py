"""Which project a person may open, and in which role. Decided before any input is read."""

from __future__ import annotations

from typing import Any

from django.core.exceptions import PermissionDenied
from django.shortcuts import get_object_or_404
from django.utils.translation import gettext as _

from labeling.models import Membership, Project

Role = Membership.Role


def any_role(user: Any, slug: str) -> Project:
    """A project the user belongs to; 404 for everybody else."""
    return get_object_or_404(Project.objects.visible_to(user), slug=slug)


def readable(user: Any, slug: str) -> Project:
    """For leads and researchers; 404 for annotators, who must not see the labels of others."""
    return get_object_or_404(Project.objects.with_role(user, Role.LEAD, Role.RESEARCHER), slug=slug)


def led(user: Any, slug: str) -> Project:
    """For leads; a researcher, who may read the same page, gets 403."""
    project = readable(user, slug)
    require_lead(user, project)
    return project


def require_lead(user: Any, project: Project) -> None:
    if not leads(user, project):
        raise PermissionDenied(_("Only a lead of the project may change it."))


def leads(user: Any, project: Project) -> bool:
    return Role.LEAD in project.roles_of(user)


def reads(user: Any, project: Project) -> bool:
    """Whether the user may open the project's other pages, not only its guidelines."""
    return bool(project.roles_of(user) & {Role.LEAD, Role.RESEARCHER})
