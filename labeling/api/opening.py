"""Which project a request opens, and in which role. Decided before any input is read."""

from __future__ import annotations

from django.core.exceptions import PermissionDenied
from django.shortcuts import get_object_or_404
from django.utils.translation import gettext as _
from rest_framework.request import Request

from labeling.models import Membership, Project

Role = Membership.Role


def readable(request: Request, slug: str) -> Project:
    """For leads and researchers; 404 for annotators, who must not see the labels of others."""
    read = Project.objects.with_role(request.user, Role.LEAD, Role.RESEARCHER)
    return get_object_or_404(read, slug=slug)


def led(request: Request, slug: str) -> Project:
    """For leads; a researcher, who may read the same, gets 403."""
    project = readable(request, slug)
    require_lead(request, project)
    return project


def require_lead(request: Request, project: Project) -> None:
    if Role.LEAD not in project.roles_of(request.user):
        raise PermissionDenied(_("Only a lead of the project may change it."))
