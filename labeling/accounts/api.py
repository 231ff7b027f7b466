"""Invitation links: made and withdrawn by leads, opened by anybody who has one."""

from __future__ import annotations

from typing import Any, ClassVar

from django.http import Http404
from django.shortcuts import get_object_or_404
from django.urls import reverse
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from labeling.accounts import invitations
from labeling.accounts.invitations import DAYS, MOST_DAYS, MOST_USES
from labeling.core import access
from labeling.core.api.base import LEADING, ApiView, Scopes
from labeling.core.api.described import extend_schema
from labeling.core.api.members import ROLES
from labeling.core.api.paging import ORDERED, ordered_page, page_of
from labeling.core.api.records import row_of
from labeling.core.api.requests import sent, user_of
from labeling.core.links import absolute
from labeling.core.models.projects import is_within_limit
from labeling.core.rules.scopes import Scope
from labeling.models import Invitation


class InvitationIn(serializers.Serializer[Any]):
    role = serializers.ChoiceField(ROLES)
    uses = serializers.IntegerField(default=1, min_value=1, max_value=MOST_USES)
    days = serializers.IntegerField(default=DAYS, min_value=1, max_value=MOST_DAYS)


class SecretIn(serializers.Serializer[Any]):
    secret = serializers.CharField(
        max_length=500, help_text="The link, or its last part", trim_whitespace=True
    )


InvitationOut = row_of(
    "InvitationOut",
    Invitation,
    *("id", "role", "invitee", "uses_left", "created_at", "expires_at"),
    created_by=serializers.CharField(source="created_by.username"),
    works=serializers.BooleanField(
        default=True, help_text="false: who made it does not lead the project any more"
    ),
)
NewInvitationOut = row_of(
    "NewInvitationOut",
    Invitation,
    base=InvitationOut,
    link=serializers.CharField(help_text="Shown this once: only its digest is stored"),
)


class JoinedOut(serializers.Serializer[Any]):
    project = serializers.CharField(source="project.slug")
    role = serializers.ChoiceField(ROLES)


class InvitationsView(ApiView):
    scopes = LEADING

    @extend_schema(parameters=ORDERED, responses=page_of(InvitationOut))
    def get(self, request: Request, slug: str) -> Response:
        """Invitations with uses and days left, newest first (leads)."""
        project = access.led(request.user, slug)
        return ordered_page(request, invitations.of_project(project), InvitationOut, by=["-pk"])

    @extend_schema(request=InvitationIn, responses={201: NewInvitationOut})
    def post(self, request: Request, slug: str) -> Response:
        """Make a link for one or several people; it is shown this once (leads)."""
        project = access.led(request.user, slug)
        fields = sent(request, InvitationIn)
        new = invitations.invite(project=project, by=user_of(request), **fields)
        return Response(NewInvitationOut(_with_link(request, new)).data, status=201)


class InvitationView(ApiView):
    scopes = LEADING

    @extend_schema(responses={204: None})
    def delete(self, request: Request, slug: str, pk: int) -> Response:
        """Withdraw a link; people who have joined stay (leads)."""
        project = access.led(request.user, slug)
        invitation = get_object_or_404(project.invitations.select_related("project"), pk=pk)
        invitations.revoke(invitation, by=user_of(request))
        return Response(status=204)


class JoinView(ApiView):
    scopes: ClassVar[Scopes] = {"POST": (Scope.LABEL, Scope.LEAD)}

    @extend_schema(request=SecretIn, responses=JoinedOut)
    def post(self, request: Request) -> Response:
        """Join a project by an invitation link. Who has the role already uses nothing up."""
        secret = sent(request, SecretIn)["secret"].rstrip("/").rpartition("/")[2]
        invitation = invitations.find(secret)
        if invitation is None or not is_within_limit(request.user, invitation.project_id):
            raise Http404
        membership = invitations.accept(invitation, user=user_of(request))
        return Response(JoinedOut(membership).data)


def _with_link(request: Request, new: invitations.Invited) -> Any:
    invitation: Any = new.invitation
    address = reverse("invitation", args=[new.secret])
    invitation.link = absolute(request._request, address)
    return invitation
