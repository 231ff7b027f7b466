from __future__ import annotations

from typing import Any

from django.db.models import Prefetch
from django.shortcuts import get_object_or_404
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from labeling.api.base import READING, ApiView
from labeling.api.described import extend_schema
from labeling.api.errors import ErrorOut
from labeling.api.paging import NEWEST_FIRST, PageOut, page
from labeling.models import GoldItem, GoldRelease
from labeling.words import worded


class GoldItemOut(serializers.ModelSerializer[GoldItem]):
    class Meta:
        model = GoldItem
        fields = ["item_id", "split", "how", "sha256"]


class GoldOut(serializers.ModelSerializer[GoldRelease]):
    project = serializers.CharField(source="project.slug")
    n_items = serializers.IntegerField()

    class Meta:
        model = GoldRelease
        fields = [
            *("name", "version", "meaning", "project", "layer"),
            *("n_items", "sha256", "signature", "public_key", "frozen_at"),
        ]


class GoldPageOut(PageOut):
    results = GoldOut(many=True)


class GoldDetailOut(GoldOut):
    items = GoldItemOut(many=True)
    left_out = serializers.SerializerMethodField()

    class Meta(GoldOut.Meta):
        fields = [*GoldOut.Meta.fields, "message", "overrides", "left_out", "items"]

    def get_left_out(self, release: GoldRelease) -> list[dict[str, Any]]:
        """Conversations not released, with reason"""
        return worded(release.left_out, with_codes=True)


class GoldListView(ApiView):
    scopes = READING

    @extend_schema(parameters=NEWEST_FIRST, responses={200: GoldPageOut, 400: ErrorOut})
    def get(self, request: Request) -> Response:
        """The gold releases I may read, newest first."""
        visible = GoldRelease.objects.visible_to(request.user).with_size().light()
        return page(request, visible, GoldOut, newest_first=True)


class GoldView(ApiView):
    scopes = READING

    @extend_schema(responses={200: GoldDetailOut, 404: ErrorOut})
    def get(self, request: Request, name: str, version: int) -> Response:
        """One release with the hash of each item."""
        hashes = Prefetch("items", GoldItem.objects.defer("canonical"))
        visible = GoldRelease.objects.visible_to(request.user).with_size().prefetch_related(hashes)
        release = get_object_or_404(visible, name=name, version=version)
        return Response(GoldDetailOut(release).data)
