"""Which project a person may open, and in which role. Decided before any input is read."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.utils.translation import gettext as _

from labeling.domain.errors import RuleError
from labeling.models import Assignment, Membership, Project
from labeling.services.work import ownership
from labeling.words import words

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
    if not leads(user, project):
        raise PermissionDenied(_("Only a lead of the project may change it."))
    return project


def own_work(user: Any, pk: int, *related: str) -> Assignment:
    """The user's assignment; 403 in words for those who no longer annotate in its project."""
    try:
        return ownership.own(user, pk, *related)
    except ownership.NotAnAnnotator as error:
        raise PermissionDenied(words(error.fact)) from None


def leads(user: Any, project: Project) -> bool:
    return Role.LEAD in project.roles_of(user)


def reads(user: Any, project: Project) -> bool:
    """Whether the user may open the project's other pages, not only its guidelines."""
    return bool(project.roles_of(user) & {Role.LEAD, Role.RESEARCHER})


def refused(request: HttpRequest, why: RuleError | str, back_to: str) -> HttpResponse:
    sentence = words(why.fact) if isinstance(why, RuleError) else why
    if request.htmx:  # type: ignore[attr-defined]
        return HttpResponse(sentence, status=400, content_type="text/plain; charset=utf-8")
    messages.error(request, sentence)
    return redirect(back_to)
