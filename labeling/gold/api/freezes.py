"""Freezing gold and the lint before it: asked for here, done by a worker, looked up again."""

from __future__ import annotations

from typing import Any

from django.db.models import Exists, OuterRef, QuerySet
from django.shortcuts import get_object_or_404
from drf_spectacular.utils import OpenApiParameter
from rest_framework import serializers, status
from rest_framework.request import Request
from rest_framework.response import Response

from labeling.core import access
from labeling.core.api.base import RELEASING, ApiView
from labeling.core.api.described import extend_schema
from labeling.core.api.paging import NEWEST_FIRST, OLDEST_FIRST, page_of, part
from labeling.core.api.records import FactField, computed, row_of, serializer_with, username
from labeling.core.api.requests import asked, sent, user_of
from labeling.gold import gold_requests, lint
from labeling.gold.rules.lint import KINDS
from labeling.models import (
    Conversation,
    Event,
    GoldRelease,
    LintFinding,
    LintReport,
    LintWaiver,
    Project,
)
from labeling.schema.targets import target_layers
from labeling.words import is_fact, words_of

# --- freezing -------------------------------------------------------------------------------------


class FreezeIn(serializers.Serializer[Any]):
    layer = serializers.CharField(help_text="One of the project's; end_to_end: the whole chain")
    name = serializers.CharField(
        default="", allow_blank=True, max_length=100, help_text="Default: the project's short name"
    )
    message = serializers.CharField(
        default="", allow_blank=True, max_length=2000, help_text="What the release is for"
    )
    at_least = serializers.ChoiceField(
        ["patch", "minor", "major"], default="patch", help_text="Of the version by meaning"
    )
    with_synthetic = serializers.BooleanField(default=False)
    only_lint = serializers.BooleanField(
        default=False, help_text="Say what lint finds, and freeze nothing"
    )


class FreezeOut(serializers.Serializer[Any]):
    id = serializers.IntegerField()
    state = serializers.ChoiceField(["waiting", "frozen", "linted", "refused", "given_up"])
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

    @extend_schema(parameters=NEWEST_FIRST, responses=page_of(FreezeOut))
    def get(self, request: Request, slug: str) -> Response:
        """Who asked for gold and what came of it, newest first."""
        project = access.readable(request.user, slug)
        asked, following = part(request, _freezes(project), newest_first=True)
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
        (state,) = _states([_freezes(project).get(pk=asked.request.pk)])
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
    frozen = [event.object_id for event in by_request.values() if event.verb == "gold.frozen"]
    releases = {str(row.pk): str(row) for row in GoldRelease.objects.filter(pk__in=frozen).light()}
    return [_state(event, by_request.get(event.pk), releases) for event in asked]


STATES = {"gold.frozen": "frozen", "gold.freeze_refused": "refused", "gold.linted": "linted"}


def _state(asked: Event, outcome: Event | None, releases: dict[str, str]) -> dict[str, Any]:
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
        "release": releases.get(outcome.object_id) if outcome and why is None else None,
        "reason": words_of(why) if why else "",
        "reason_code": why["code"] if why and is_fact(why) else None,
    }


# --- lint -----------------------------------------------------------------------------------------


class LayerIn(serializers.Serializer[Any]):
    layer = serializers.CharField()


KindOut = serializer_with("KindOut", lint.KindCount)


class LintOut(serializers.Serializer[Any]):
    layer = serializers.CharField()
    at = serializers.DateTimeField(allow_null=True, help_text="null: never looked")
    by = serializers.CharField(allow_null=True)
    items = serializers.IntegerField(allow_null=True, help_text="That a freeze would have taken")
    kinds = KindOut(many=True)


FindingOut = row_of(
    "FindingOut",
    LintFinding,
    *("id", "kind", "key"),
    message=FactField(source="fact"),
    code=serializers.CharField(source="fact.code"),
    conversation=serializers.CharField(
        source="conversation.external_id", default=None, allow_null=True
    ),
    other=computed(
        serializers.CharField,
        lambda row: row.other.external_id if row.other and row.shows_other else None,
        allow_null=True,
        help_text="The other conversation, where there is one and you may read it",
    ),
    is_open=serializers.BooleanField(help_text="Nobody has accepted it"),
)


class WaiveIn(LayerIn):
    kind = serializers.ChoiceField(list(KINDS))
    key = serializers.CharField(
        default="", allow_blank=True, max_length=20, help_text="Of one finding; empty: all open"
    )
    reason = serializers.CharField(max_length=2000)


WaiverOut = row_of(
    "WaiverOut",
    LintWaiver,
    *("id", "layer", "kind", "number", "reason", "at"),
    by=username("by"),
    withdrawn_at=serializers.DateTimeField(source="ended.at", default=None, allow_null=True),
)


LAYER = OpenApiParameter("layer", str, description="Default: the project's first")


class LintView(ApiView):
    scopes = RELEASING

    @extend_schema(parameters=[LAYER], responses=LintOut)
    def get(self, request: Request, slug: str) -> Response:
        """What lint found the last time in labels that would be frozen, counted by kind."""
        project = access.readable(request.user, slug)
        return Response(_lint(project, _layer(request, project)))


class FindingFilterIn(serializers.Serializer[Any]):
    kind = serializers.ChoiceField(list(KINDS), required=False)


class LintFindingsView(ApiView):
    scopes = RELEASING

    @extend_schema(
        parameters=[
            *OLDEST_FIRST,
            LAYER,
            FindingFilterIn,
        ],
        responses=page_of(FindingOut),
    )
    def get(self, request: Request, slug: str) -> Response:
        """The findings of the last report of a layer."""
        project = access.readable(request.user, slug)
        wanted = asked(request, FindingFilterIn)
        of_report = LintFinding.objects.filter(
            report__project=project, report__layer=_layer(request, project)
        )
        if "kind" in wanted:
            of_report = of_report.filter(kind=wanted["kind"])
        known = Conversation.objects.visible_to(request.user).order_by()
        rows = of_report.select_related("conversation", "other").annotate(
            shows_other=Exists(known.filter(pk=OuterRef("other_id")))
        )
        shown, following = part(request, rows)
        covered = lint.covered(project, _layer(request, project))
        for row in shown:
            row.is_open = row.key not in covered
        return Response(page_of(FindingOut)({"next": following, "results": shown}).data)


class LintWaiversView(ApiView):
    scopes = RELEASING

    @extend_schema(request=WaiveIn, responses={201: WaiverOut})
    def post(self, request: Request, slug: str) -> Response:
        """Accept what is open of a kind, or one finding (leads). Releases state it."""
        project = access.led(request.user, slug)
        fields = sent(request, WaiveIn)
        layer, kind = fields.pop("layer"), fields.pop("kind")
        waiver = lint.waive(project, layer, kind, by=user_of(request), **fields)
        return Response(WaiverOut(waiver).data, status=status.HTTP_201_CREATED)


def _lint(project: Project, layer: str) -> dict[str, Any]:
    report = LintReport.objects.filter(project=project, layer=layer).select_related("by").first()
    said = {
        "layer": layer,
        "at": report.at if report else None,
        "by": report.by.get_username() if report and report.by else None,
        "items": report.items if report else None,
        "kinds": lint.counts_of(report) if report else [],
    }
    return dict(LintOut(said).data)


def _layer(request: Request, project: Project) -> str:
    layers = target_layers(project.layers)
    layer = request.query_params.get("layer") or layers[0]
    if layer not in layers:
        raise serializers.ValidationError({"layer": [f"This project has {', '.join(layers)}."]})
    return layer
