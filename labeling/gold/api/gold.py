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
from labeling.exchange.export import download, formats_for
from labeling.gold import gold, looks, pseudonyms, verification
from labeling.gold.looks import LONGEST_REASON, Sight
from labeling.models import Conversation, GoldItem, GoldRelease, Look, Membership
from labeling.words import worded
from labeling.work import blindness

Role = Membership.Role


ListedItemOut = row_of(
    "ListedItemOut",
    GoldItem,
    *("position", "item_id", "split", "how", "sha256", "signature"),
    synthetic=computed(
        serializers.BooleanField,
        lambda item: item.conversation.is_synthetic or item.how == GoldItem.How.GENERATED,
        help_text="Nobody has held the conversation, or nobody has labeled it",
    ),
)
ItemOut = row_of(
    "ItemOut",
    GoldItem,
    base=ListedItemOut,
    document=serializers.DictField(
        help_text="The text, the labels and where each comes from, as hashed; leads read user "
        "names in place of pseudonyms"
    ),
)
GoldOut = row_of(
    "GoldOut",
    GoldRelease,
    *("name", "version", "meaning", "layer", "sha256", "signature", "public_key", "frozen_at"),
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
    formats=computed(
        serializers.ListField,
        formats_for,
        child=serializers.CharField(),
        help_text="In which it can be downloaded, next to its lines alone",
    ),
)


class GoldListView(ApiView):
    scopes = READING

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


class GoldView(ApiView):
    scopes = READING

    @extend_schema(responses=GoldDetailOut)
    def get(self, request: Request, name: str, version: int) -> Response:
        """One release; its items have an address of their own."""
        return Response(GoldDetailOut(_release(request, name, version)).data)


class GoldItemsView(ApiView):
    scopes = READING

    @extend_schema(
        parameters=[
            *PAGING,
            OpenApiParameter("split", str, description="Only of this split"),
        ],
        responses=page_of(ListedItemOut),
    )
    def get(self, request: Request, name: str, version: int) -> Response:
        """The items of a release in their order, without their labels."""
        items = _release(request, name, version).items.select_related("conversation")
        if split := request.query_params.get("split"):
            items = items.filter(split=split)
        return page(request, items.defer("canonical"), ListedItemOut, by=["position"])


class GoldItemView(ApiView):
    scopes = READING

    @extend_schema(responses=ItemOut)
    def get(self, request: Request, name: str, version: int, item_id: str) -> Response:
        """One item with its conversation, its labels and where each label comes from."""
        release, item = _item(request, name, version, item_id)
        looks.require_item(request.user, item)
        leads = Role.LEAD in release.project.roles_of(request.user)
        names = pseudonyms.names_of(release.project) if leads else {}
        item.document = pseudonyms.content_of(item, names)  # type: ignore[attr-defined]
        return Response(ItemOut(item).data)


class GoldExportView(ApiView):
    scopes = READING

    @extend_schema(
        parameters=[
            OpenApiParameter(
                "form", str, description="One of the release's formats, as a zip; empty: lines"
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


class GoldVerifyView(ApiView):
    scopes = RELEASING

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
    looks = serializers.IntegerField(help_text="At these test items, in whatever release")
    budget = serializers.IntegerField(allow_null=True, help_text="null: no limit")


class LooksView(ApiView):
    scopes = {"POST": (Scope.GOLD, Scope.RUNS)}

    @extend_schema(request=LookIn, responses={201: StandingOut})
    def post(self, request: Request) -> Response:
        """Say why I look at the test items of a release; what answered 403 opens for me."""
        asked = sent(request, LookIn)
        visible = GoldRelease.objects.visible_to(request.user).select_related("project")
        release = gold.find(asked["gold"], among=visible)
        looks.state(request.user, [release], Sight(asked["purpose"]), asked["reason"])
        standing = {"gold": str(release), **looks.standing(release).as_json()}
        return Response(StandingOut(standing).data, status=status.HTTP_201_CREATED)


def _release(request: Request, name: str, version: int) -> GoldRelease:
    visible = GoldRelease.objects.visible_to(request.user).with_size()
    people = visible.select_related("project", "frozen_by")
    release: GoldRelease = get_object_or_404(people, name=name, version=version)
    return release


def _item(request: Request, name: str, version: int, item_id: str) -> tuple[GoldRelease, GoldItem]:
    release = _release(request, name, version)
    item = get_object_or_404(release.items.select_related("conversation"), item_id=item_id)
    blindness.refuse(request.user, Conversation.objects.filter(pk=item.conversation_id))
    item.release = release
    return release, item
