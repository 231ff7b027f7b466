"""Invitations: created and revoked by leads, opened by anyone who has the link."""

from __future__ import annotations

from django.contrib import messages
from django.contrib.auth.decorators import login_not_required
from django.contrib.auth.models import User
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods, require_POST

from labeling.accounts import accounts
from labeling.accounts import invitations as service
from labeling.accounts.views.signing_in import enter
from labeling.core import access
from labeling.core.forms.members import NewAccountForm, PeopleForm
from labeling.core.views import once
from labeling.core.views.access import absolute, form_page, person, said_by
from labeling.models import Invitation
from labeling.translation import lazy, translated
from labeling.words import words

WELCOME = lazy("Welcome: you are {role} of {name}.")


@require_POST
@never_cache
def people_invite(request: HttpRequest, slug: str) -> HttpResponse:
    """Several at once. Each link is shown once, by the page that the form was on."""
    project = access.led(request.user, slug)
    form = PeopleForm(request.POST)
    is_start = "start" in request.POST
    if not form.is_valid():
        messages.error(request, said_by(form))
        return redirect(project) if is_start else redirect("members", slug)
    by = person(request)
    invited = service.invite_people(project=project, by=by, **form.cleaned_data)
    links = {
        link.invitation: absolute(request, reverse("invitation", args=[link.secret]))
        for link in invited.invited
    }
    if links:
        named = [[invitation.invitee, link] for invitation, link in links.items()]
        mailed = service.mail(links, by=by)
        once.keep(request, f"people-{project.pk}", links=named, mailed=mailed)
    if joined := [*invited.added, *invited.members]:
        members = ngettext("{names} is in the project.", "{names} are in the project.", len(joined))
        messages.success(request, members.format(names=", ".join(joined)))
    return redirect(project) if is_start else redirect("members", slug)


@require_POST
def invitation_revoke(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    project = access.led(request.user, slug)
    service.revoke(get_object_or_404(project.invitations, pk=pk), by=person(request))
    messages.success(request, _("The link opens nothing any more."))
    return redirect("members", slug)


@login_not_required
@never_cache
@sensitive_post_parameters()
@require_http_methods(["GET", "POST"])
def invitation(request: HttpRequest, secret: str) -> HttpResponse:
    """What is behind the link: a button for who is signed in, an account for who has none."""
    invitation = service.find(secret)
    if invitation is None:
        raise Http404
    if not service.opens(invitation):
        if request.user.is_authenticated and service.is_in(invitation, request.user):
            return _at_home(request, invitation, _("You are {role} of {name} already."))
        return _over(request, invitation)
    if request.user.is_authenticated:
        return _for_member(request, invitation, request.user)
    return _for_newcomer(request, invitation)


def _for_member(request: HttpRequest, invitation: Invitation, user: User) -> HttpResponse:
    if request.method == "GET":
        return render(request, "labeling/invitation.html", {"invitation": invitation})
    try:
        service.accept(invitation, user=user)
    except service.InvitationOver:
        return _over(request, invitation)
    return _at_home(request, invitation, WELCOME)


def _for_newcomer(request: HttpRequest, invitation: Invitation) -> HttpResponse:
    form = NewAccountForm(request.POST or None, initial=_proposal(invitation))
    if request.method == "POST" and form.is_valid():
        try:
            user = service.accept_as_new(
                invitation,
                username=form.cleaned_data["username"],
                password=form.cleaned_data["password1"],
                full_name=form.cleaned_data["full_name"],
            )
        except accounts.NameInUse as error:
            form.add_error("username", words(error.fact))
        except service.InvitationOver:
            return _over(request, invitation)
        else:
            enter(request, user)
            return _at_home(request, invitation, WELCOME)
    return form_page(request, "invitation", form, invitation=invitation)


def _proposal(invitation: Invitation) -> dict[str, str]:
    """What a lead wrote of somebody: a name, or an address."""
    address = service.ADDRESS.search(invitation.invitee)
    name = service.ADDRESS.sub("", invitation.invitee).strip(" <>\"'")
    if address:
        return {"username": address[0].partition("@")[0], "full_name": name}
    return {"full_name": name} if " " in name else {"username": name}


def _over(request: HttpRequest, invitation: Invitation) -> HttpResponse:
    """Perhaps since the page was opened: somebody else may have been quicker."""
    context = {"invitation": invitation, "over": True, "ask": service.whom_to_ask(invitation)}
    return render(request, "labeling/invitation.html", context, status=410)


def _at_home(request: HttpRequest, invitation: Invitation, text: str) -> HttpResponse:
    role, name = translated(invitation.role), invitation.project.name
    messages.success(request, text.format(role=role, name=name))
    return redirect("home")
