"""Gold releases: what they hold, files, verifying, looks at test items."""

from __future__ import annotations

from typing import Any

from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter
from rest_framework import serializers, status
from rest_framework.request import Request
from rest_framework.response import Response

from labeling.core.api.base import READING, RELEASING, ApiView
from labeling.core.api.described import extend_schema
from labeling.core.api.paging import PAGING, page, page_of
from labeling.core.api.records import computed, row_of, username
from labeling.core.api.requests import sent
from labeling.core.rules.scopes import Scope
from labeling.exchange.export import FORMATS, download
from labeling.gold import gold, looks, verification
from labeling.gold.looks import LONGEST_REASON, Sight
from labeling.models import GoldRelease, Look
from labeling.words import worded

GoldOut = row_of(
    "GoldOut",
    GoldRelease,
    *("name", "version", "layer", "sha256", "signature", "public_key", "frozen_at"),
    project=serializers.CharField(source="project.slug"),
    n_items=serializers.IntegerField(),
)
GoldDetailOut = row_of(
    "GoldDetailOut",
    GoldRelease,
    *("message", "overrides"),
    base=GoldOut,
    frozen_by=username("frozen_by"),
    left_out=computed(
        serializers.ListField,
        lambda release: worded(release.left_out, with_codes=True),
        child=serializers.DictField(),
        help_text="Conversations not released, with reason",
    ),
)


class GoldListView(ApiView, scopes=READING):
    @extend_schema(
        parameters=[
            *PAGING,
            OpenApiParameter("project", str, description="Only of this project"),
            OpenApiParameter("name", str, description="Only of this name"),
        ],
        responses=page_of(GoldOut),
    )
    def get(self, request: Request) -> Response:
        """The gold releases I may read, newest first."""
        visible = GoldRelease.objects.visible_to(request.user).with_size().light()
        if slug := request.query_params.get("project"):
            visible = visible.filter(project__slug=slug)
        if name := request.query_params.get("name"):
            visible = visible.filter(name=name)
        return page(request, visible, GoldOut, by=["-pk"])


class GoldView(ApiView, scopes=READING):
    @extend_schema(responses=GoldDetailOut)
    def get(self, request: Request, name: str, version: int) -> Response:
        """One release; its export has its items."""
        return Response(GoldDetailOut(_release(request, name, version)).data)


class GoldExportView(ApiView, scopes=READING):
    @extend_schema(
        parameters=[
            OpenApiParameter(
                "form", str, enum=FORMATS, description="As a zip; empty: its lines alone"
            )
        ],
        responses={
            (200, "application/x-ndjson"): OpenApiTypes.STR,
            (200, "application/zip"): OpenApiTypes.BINARY,
        },
    )
    def get(self, request: Request, name: str, version: int) -> HttpResponseBase:
        """The items as lines, as they were hashed; or the files of a format in one archive."""
        release = _release(request, name, version)
        return download(release, request.query_params.get("form", ""), request.user)


# --- verifying ------------------------------------------------------------------------------------


class VerifiedOut(serializers.Serializer[Any]):
    intact = serializers.BooleanField()
    faults = serializers.ListField(child=serializers.DictField())


class GoldVerifyView(ApiView, scopes=RELEASING):
    @extend_schema(request=None, responses=VerifiedOut)
    def post(self, request: Request, name: str, version: int) -> Response:
        """Compute every hash again."""
        found = verification.verify_at_once(_release(request, name, version))
        rows = [{"item_id": fault.item_id, "fact": fault.fact.as_json()} for fault in found]
        verified = {"intact": not found, "faults": worded(rows, with_codes=True)}
        return Response(VerifiedOut(verified).data)


# --- looks at test items --------------------------------------------------------------------------


class LookIn(serializers.Serializer[Any]):
    gold = serializers.CharField(help_text="name (newest) or name@version")
    purpose = serializers.ChoiceField(
        Look.Purpose.choices, help_text="run is stated with the launch itself"
    )
    reason = serializers.CharField(max_length=LONGEST_REASON)


class StandingOut(serializers.Serializer[Any]):
    gold = serializers.CharField()
    looks = serializers.IntegerField(help_text="At the test items of all versions of its name")


class LooksView(ApiView, scopes={"POST": (Scope.GOLD, Scope.RUNS)}):
    @extend_schema(request=LookIn, responses={201: StandingOut})
    def post(self, request: Request) -> Response:
        """Say why I look at the test items of a release; what answered 403 opens for me."""
        asked = sent(request, LookIn)
        visible = GoldRelease.objects.visible_to(request.user).select_related("project")
        release = gold.find(asked["gold"], among=visible)
        looks.state(request.user, [release], Sight(asked["purpose"]), asked["reason"])
        standing = {"gold": str(release), "looks": looks.looks_at(release).count()}
        return Response(StandingOut(standing).data, status=status.HTTP_201_CREATED)


def _release(request: Request, name: str, version: int) -> GoldRelease:
    visible = GoldRelease.objects.visible_to(request.user).with_size()
    people = visible.select_related("project", "frozen_by")
    release: GoldRelease = get_object_or_404(people, name=name, version=version)
    return release
