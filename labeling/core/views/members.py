"""Who may do what in a project: roles given and taken."""

from __future__ import annotations

from typing import Any, NamedTuple

from django.contrib import messages
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_http_methods

from labeling.accounts import invitations
from labeling.core import access
from labeling.core import members as service
from labeling.core.forms.members import MoveForm, PeopleForm
from labeling.core.views import once
from labeling.core.views.access import form_page, person, refusals_told, sent
from labeling.models import Membership, Project, Round
from labeling.translation import translated
from labeling.work import handovers
from labeling.work.handovers import HandedOn


class OpenWork(NamedTuple):
    """What a person holds in open rounds and has not answered."""

    total: int
    calibration: int


@require_GET
@never_cache
def members(request: HttpRequest, slug: str) -> HttpResponse:
    project = access.readable(request.user, slug)
    may_write = access.leads(request.user, project)
    context = {
        "project": project,
        "members": members_of(project),
        "still_held": handovers.still_held(project) if may_write else {},
        "may_write": may_write,
        "people_form": PeopleForm(auto_id="people_%s"),
        "invitations": invitations.of_project(project) if may_write else [],
        **(once.take(request, f"people-{project.pk}") or {}),
    }
    return render(request, "labeling/members.html", context)


def members_of(project: Project) -> list[Membership]:
    memberships = project.memberships.select_related("user")
    return list(memberships.order_by("user__username", "role"))


@require_http_methods(["GET", "POST"])
def member_remove(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """Asks first, also who gets the open work; the answer comes back as a POST."""
    project = access.led(request.user, slug)
    membership = _membership(project, pk)
    form = MoveForm(project, membership.user, sent(request))
    if request.method == "GET" or not form.is_valid():
        work = _open_work(project, membership)
        context: dict[str, Any] = {"project": project, "membership": membership, "work": work}
        return form_page(request, "member_remove", form, **context)
    with refusals_told(request):
        handed_on = service.remove_member(
            membership=membership, by=person(request), **form.cleaned_data
        )
        text = _("{user} is no longer {role} here.").format(
            user=membership.user, role=translated(membership.role)
        )
        return _after(request, project, membership, handed_on, text)
    return redirect("members", slug)


def _membership(project: Project, pk: int) -> Membership:
    return get_object_or_404(project.memberships.select_related("user"), pk=pk)


def _after(
    request: HttpRequest, project: Project, membership: Membership, handed_on: HandedOn, done: str
) -> HttpResponse:
    messages.success(request, done)
    if handed_on.total:
        messages.info(request, where_it_went(membership.user, handed_on))
    leads = access.leads(request.user, project)
    return redirect("members", project.slug) if leads else redirect("home")


def where_it_went(user: User, handed_on: HandedOn) -> str:
    if not handed_on.total:
        return _("Nothing was open.")
    parts = [_("{n} to {user}").format(n=n, user=name) for name, n in handed_on.to.items()]
    if handed_on.pool:
        parts.append(_("{n} back to the pool").format(n=handed_on.pool))
    if handed_on.left_open:
        parts.append(_("{n} to nobody: one answer fewer").format(n=handed_on.left_open))
    return _("Open conversations of {user}: {where}. Drafts are kept.").format(
        user=user.get_username(), where=", ".join(parts)
    )


def _open_work(project: Project, membership: Membership) -> OpenWork:
    if membership.role != Membership.Role.ANNOTATOR:
        return OpenWork(0, 0)
    open_work = handovers.open_work(project, membership.user).order_by()
    calibration = open_work.filter(round__kind=Round.Kind.CALIBRATION)
    return OpenWork(open_work.count(), calibration.count())
