"""Freezing gold: asked for here, done by a worker, looked up again."""

from __future__ import annotations

from typing import Any

from django.db.models import QuerySet
from django.shortcuts import get_object_or_404
from rest_framework import serializers, status
from rest_framework.request import Request
from rest_framework.response import Response

from labeling.core import access
from labeling.core.api.base import RELEASING, ApiView
from labeling.core.api.described import extend_schema
from labeling.core.api.paging import PAGING, page, page_of
from labeling.core.api.records import FactField, username
from labeling.core.api.requests import sent, user_of
from labeling.gold import gold_requests
from labeling.models import Event, Project


class FreezeIn(serializers.Serializer[Any]):
    layer = serializers.CharField(help_text="One of the project's; end_to_end: the whole chain")
    name = serializers.CharField(
        default="", allow_blank=True, max_length=100, help_text="Default: the project's short name"
    )
    message = serializers.CharField(
        default="", allow_blank=True, max_length=2000, help_text="What the release is for"
    )
    with_synthetic = serializers.BooleanField(default=False)
    waive = serializers.DictField(
        child=serializers.CharField(max_length=2000),
        default=dict,
        help_text="Why findings of lint may be in the release, by kind",
    )


class FreezeOut(serializers.Serializer[Any]):
    id = serializers.IntegerField(source="asked.pk")
    state = serializers.ChoiceField(["waiting", "frozen", "refused", "given_up"])
    layer = serializers.CharField(source="asked.data.layer")
    name = serializers.CharField(source="asked.data.name", default="", read_only=True)
    asked_by = username("asked.actor")
    asked_at = serializers.DateTimeField(source="asked.at")
    ended_at = serializers.DateTimeField(
        source="outcome.at", default=None, allow_null=True, read_only=True
    )
    release = serializers.CharField(
        source="outcome.data.release",
        default=None,
        allow_null=True,
        read_only=True,
        help_text="name@version, once it is frozen",
    )
    reason = FactField(source="why", help_text="Why it was refused")
    reason_code = serializers.CharField(
        source="why.code", default=None, allow_null=True, read_only=True
    )


class FreezesView(ApiView, scopes=RELEASING):
    @extend_schema(parameters=PAGING, responses=page_of(FreezeOut))
    def get(self, request: Request, slug: str) -> Response:
        """Who asked for gold and what came of it, newest first."""
        project = access.readable(request.user, slug)
        prepared = gold_requests.with_outcomes
        return page(request, _freezes(project), FreezeOut, by=["-pk"], prepared=prepared)

    @extend_schema(
        request=FreezeIn,
        responses={202: FreezeOut},
    )
    def post(self, request: Request, slug: str) -> Response:
        """Ask for a release (leads). A worker makes it; the address with its id says what came of
        it. What was asked for already and waits is the same request."""
        project = access.led(request.user, slug)
        fields = sent(request, FreezeIn)
        asked = gold_requests.request_freeze(project=project, by=user_of(request), **fields)
        (state,) = gold_requests.with_outcomes([_freezes(project).get(pk=asked.pk)])
        return Response(FreezeOut(state).data, status=status.HTTP_202_ACCEPTED)


class FreezeView(ApiView, scopes=RELEASING):
    @extend_schema(responses=FreezeOut)
    def get(self, request: Request, slug: str, pk: int) -> Response:
        """Whether the release is there, or why not."""
        asked = get_object_or_404(_freezes(access.readable(request.user, slug)), pk=pk)
        (state,) = gold_requests.with_outcomes([asked])
        return Response(FreezeOut(state).data)


def _freezes(project: Project) -> QuerySet[Event]:
    asked = Event.objects.filter(project=project, verb=gold_requests.ASKED)
    return asked.select_related("project", "actor").order_by("-pk")
