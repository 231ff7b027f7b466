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
from labeling.core.api.paging import PAGING, page_of, part
from labeling.core.api.requests import sent, user_of
from labeling.gold import gold_requests
from labeling.models import Event, Project
from labeling.words import is_fact, words_of


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
    id = serializers.IntegerField()
    state = serializers.ChoiceField(["waiting", "frozen", "refused", "given_up"])
    layer = serializers.CharField()
    name = serializers.CharField()
    asked_by = serializers.CharField(allow_null=True)
    asked_at = serializers.DateTimeField()
    ended_at = serializers.DateTimeField(allow_null=True)
    release = serializers.CharField(allow_null=True, help_text="name@version, once it is frozen")
    reason = serializers.CharField(help_text="Why it was refused")
    reason_code = serializers.CharField(allow_null=True)


class FreezesView(ApiView):
    scopes = RELEASING

    @extend_schema(parameters=PAGING, responses=page_of(FreezeOut))
    def get(self, request: Request, slug: str) -> Response:
        """Who asked for gold and what came of it, newest first."""
        project = access.readable(request.user, slug)
        asked, following = part(request, _freezes(project), by=["-pk"])
        return Response(page_of(FreezeOut)({"next": following, "results": _states(asked)}).data)

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
        (state,) = _states([_freezes(project).get(pk=asked.pk)])
        return Response(FreezeOut(state).data, status=status.HTTP_202_ACCEPTED)


class FreezeView(ApiView):
    scopes = RELEASING

    @extend_schema(responses=FreezeOut)
    def get(self, request: Request, slug: str, pk: int) -> Response:
        """Whether the release is there, or why not."""
        asked = get_object_or_404(_freezes(access.readable(request.user, slug)), pk=pk)
        (state,) = _states([asked])
        return Response(FreezeOut(state).data)


def _freezes(project: Project) -> QuerySet[Event]:
    asked = Event.objects.filter(project=project, verb=gold_requests.ASKED)
    return asked.select_related("project", "actor").order_by("-pk")


def _states(asked: list[Event]) -> list[dict[str, Any]]:
    """Each request with its outcome, which is an event that names it."""
    keys = [event.pk for event in asked]
    outcomes = Event.objects.filter(
        project__in={event.project_id for event in asked},
        verb__in=gold_requests.OUTCOMES,
        pk__gt=min(keys, default=0),
        data__request__in=keys,
    )
    by_request = {event.data["request"]: event for event in outcomes}
    return [_state(event, by_request.get(event.pk)) for event in asked]


STATES = {"gold.frozen": "frozen", "gold.freeze_refused": "refused"}


def _state(asked: Event, outcome: Event | None) -> dict[str, Any]:
    why = outcome.data.get("message") if outcome and outcome.verb != "gold.frozen" else None
    state = STATES[outcome.verb] if outcome else "waiting"
    if state == "waiting" and gold_requests.is_given_up(asked):
        state = "given_up"
    return {
        "id": asked.pk,
        "state": state,
        "layer": asked.data["layer"],
        "name": asked.data.get("name", ""),
        "asked_by": asked.actor.get_username() if asked.actor else None,
        "asked_at": asked.at,
        "ended_at": outcome.at if outcome else None,
        "release": outcome.data.get("release") if outcome else None,
        "reason": words_of(why) if why else "",
        "reason_code": why["code"] if why and is_fact(why) else None,
    }
