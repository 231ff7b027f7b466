from __future__ import annotations

from django.db.models import Prefetch
from django.shortcuts import get_object_or_404
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from labeling.api.errors import ErrorOut
from labeling.models import GoldItem, GoldRelease


class GoldItemOut(serializers.ModelSerializer[GoldItem]):
    class Meta:
        model = GoldItem
        fields = ["item_id", "split", "how", "sha256"]


class GoldOut(serializers.ModelSerializer[GoldRelease]):
    project = serializers.CharField(source="project.slug")
    n_items = serializers.IntegerField()

    class Meta:
        model = GoldRelease
        fields = ["name", "version", "project", "layer", "n_items", "sha256", "frozen_at"]


class GoldDetailOut(GoldOut):
    items = GoldItemOut(many=True)

    class Meta(GoldOut.Meta):
        fields = [*GoldOut.Meta.fields, "message", "overrides", "left_out", "items"]


class GoldListView(APIView):
    @extend_schema(responses=GoldOut(many=True))
    def get(self, request: Request) -> Response:
        """The gold releases I may read, newest first."""
        visible = GoldRelease.objects.visible_to(request.user).with_size().light()
        return Response(GoldOut(visible.order_by("-pk")[:200], many=True).data)


class GoldView(APIView):
    @extend_schema(responses={200: GoldDetailOut, 404: ErrorOut})
    def get(self, request: Request, name: str, version: int) -> Response:
        """One release with the hash of each item."""
        hashes = Prefetch("items", GoldItem.objects.defer("canonical"))
        visible = GoldRelease.objects.visible_to(request.user).with_size().prefetch_related(hashes)
        release = get_object_or_404(visible, name=name, version=version)
        return Response(GoldDetailOut(release).data)
