"""Guidelines: every change is a new version, and labels name the version they follow."""

from __future__ import annotations

from typing import Any

from django.shortcuts import get_object_or_404
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from labeling.core import access
from labeling.core.api.base import ApiView, reading_and
from labeling.core.api.described import extend_schema
from labeling.core.api.paging import PAGING, page, page_of
from labeling.core.api.records import row_of, username
from labeling.core.api.requests import sent, user_of
from labeling.core.rules.scopes import Scope
from labeling.models import Guideline
from labeling.work import guidelines
from labeling.work.forms.guidelines import MOST_CHARACTERS

READ_BY_MEMBERS = reading_and(Scope.LEAD, read=(Scope.READ, Scope.LABEL))


class GuidelineIn(serializers.Serializer[Any]):
    body = serializers.CharField(
        max_length=MOST_CHARACTERS, trim_whitespace=False, help_text="Markdown"
    )
    summary = serializers.CharField(max_length=300, help_text="What changed, in one line")
    base_version = serializers.IntegerField(
        min_value=0, max_value=2**31 - 1, help_text="The newest version that you know; 0: none"
    )


GuidelineOut = row_of(
    "GuidelineOut",
    Guideline,
    *("version", "summary", "created_at"),
    created_by=username("created_by", help_text="null: a command"),
)
GuidelineDetailOut = row_of(
    "GuidelineDetailOut",
    Guideline,
    base=GuidelineOut,
    body=serializers.CharField(help_text="Markdown"),
)


class GuidelinesView(ApiView, scopes=READ_BY_MEMBERS):
    @extend_schema(parameters=PAGING, responses=page_of(GuidelineOut))
    def get(self, request: Request, slug: str) -> Response:
        """The versions of the guidelines, newest first, without their text (members)."""
        project = access.any_role(request.user, slug)
        rows = project.guidelines.select_related("created_by").defer("body")
        return page(request, rows, GuidelineOut, by=["-version"])

    @extend_schema(
        request=GuidelineIn,
        responses={201: GuidelineOut},
    )
    def post(self, request: Request, slug: str) -> Response:
        """Write the next version; new rounds follow it (leads)."""
        project = access.led(request.user, slug)
        fields = sent(request, GuidelineIn)
        added = guidelines.add_version(project=project, by=user_of(request), **fields)
        return Response(GuidelineOut(added).data, status=201)


class GuidelineView(ApiView, scopes=READ_BY_MEMBERS):
    @extend_schema(responses=GuidelineDetailOut)
    def get(self, request: Request, slug: str, version: int) -> Response:
        """One version with its text (members)."""
        project = access.any_role(request.user, slug)
        versions = project.guidelines.select_related("created_by")
        return Response(GuidelineDetailOut(get_object_or_404(versions, version=version)).data)
