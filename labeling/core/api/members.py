"""Who may do what in a project, and who has which work."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.models import User
from django.shortcuts import get_object_or_404
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from labeling.core import access, members
from labeling.core.api.base import LEADING, ApiView
from labeling.core.api.described import extend_schema
from labeling.core.api.paging import PAGING, page, page_of
from labeling.core.api.records import row_of, serializer_of
from labeling.core.api.requests import asked, person, sent, user_of
from labeling.models import Membership, Project
from labeling.work import assignments, handovers

ROLES = Membership.Role.choices


class MemberIn(serializers.Serializer[Any]):
    username = serializers.CharField(max_length=150)
    role = serializers.ChoiceField(ROLES)


class TakerIn(serializers.Serializer[Any]):
    to = serializers.CharField(
        max_length=150,
        default="",
        allow_blank=True,
        help_text="The annotator who gets the open work; empty: the others of its round",
    )


MemberOut = row_of(
    "MemberOut",
    Membership,
    *("id", "role"),
    username=serializers.CharField(source="user.username"),
    name=serializers.CharField(source="user.get_full_name"),
)
HandedOnOut = serializer_of(handovers.HandedOn)


class MembersView(ApiView, scopes=LEADING):
    @extend_schema(parameters=PAGING, responses=page_of(MemberOut))
    def get(self, request: Request, slug: str) -> Response:
        """The members of a project, by user name; several roles are several rows."""
        project = access.readable(request.user, slug)
        rows = project.memberships.select_related("user")
        return page(request, rows, MemberOut, by=["user__username", "role", "pk"])

    @extend_schema(
        request=MemberIn,
        responses={201: MemberOut},
    )
    def post(self, request: Request, slug: str) -> Response:
        """Give somebody a role (leads). Giving it again changes nothing."""
        project = access.led(request.user, slug)
        fields = sent(request, MemberIn)
        added = members.add_member(project=project, by=user_of(request), **fields)
        return Response(MemberOut(added).data, status=201)


class MemberView(ApiView, scopes=LEADING):
    @extend_schema(
        parameters=[TakerIn],
        responses={200: HandedOnOut},
    )
    def delete(self, request: Request, slug: str, pk: int) -> Response:
        """Take a role away; open work of an annotator is handed on (leads)."""
        project = access.led(request.user, slug)
        membership = _membership(project, pk)
        to = _taker(membership, asked(request, TakerIn)["to"])
        handed_on = members.remove_member(membership=membership, by=user_of(request), to=to)
        return Response(HandedOnOut(handed_on).data)


def _membership(project: Project, pk: int) -> Membership:
    return get_object_or_404(project.memberships.select_related("user", "project"), pk=pk)


def _taker(membership: Membership, username: str) -> User | None:
    if not username:
        return None
    others = assignments.annotators(membership.project).exclude(pk=membership.user_id)
    return person("to", username, others)
