from __future__ import annotations

from typing import Any

from drf_spectacular.utils import OpenApiParameter
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from evaluation.access import require_reader
from evaluation.layers import GOLD_LAYERS
from labeling.api.base import READING, ApiView
from labeling.api.described import extend_schema
from labeling.api.errors import ErrorOut
from labeling.api.paging import OLDEST_FIRST, PageOut, listed
from labeling.translation import translated
from pipelines.registry import PIPELINES, Entry


class PipelineOut(serializers.Serializer[Any]):
    name = serializers.CharField()
    title = serializers.SerializerMethodField()
    summary = serializers.SerializerMethodField()
    layers = serializers.ListField(child=serializers.CharField(), help_text="That it fits")
    needs_model = serializers.BooleanField(help_text="A language model, with any settings")
    asks_model = serializers.SerializerMethodField()
    floor = serializers.BooleanField(help_text="A yardstick, not an attempt")
    suggests = serializers.BooleanField(help_text="Its labels can be suggested to annotators")
    defaults = serializers.SerializerMethodField()
    options = serializers.SerializerMethodField()

    def get_title(self, entry: Entry) -> str:
        return translated(entry.title)

    def get_summary(self, entry: Entry) -> str:
        return translated(entry.summary)

    def get_asks_model(self, entry: Entry) -> bool:
        """Whether it asks a language model with its defaults"""
        return entry.asks_model(_defaults(entry))

    def get_defaults(self, entry: Entry) -> dict[str, Any]:
        """Its settings as they are where a launch names none"""
        return _defaults(entry)

    def get_options(self, entry: Entry) -> dict[str, Any]:
        """Its settings as JSON Schema: names, types, limits and what they mean"""
        return entry.config.model_json_schema()


class PipelinePageOut(PageOut):
    results = PipelineOut(many=True)


class PipelinesView(ApiView):
    scopes = READING

    @extend_schema(
        parameters=[*OLDEST_FIRST, OpenApiParameter("layer", str, enum=list(GOLD_LAYERS))],
        responses={200: PipelinePageOut, 400: ErrorOut, 404: ErrorOut},
    )
    def get(self, request: Request) -> Response:
        """The pipelines that can be launched, with their settings and the layers they fit."""
        require_reader(request.user)
        entries = list(PIPELINES.values())
        if layer := request.query_params.get("layer"):
            entries = [entry for entry in entries if layer in entry.layers]
        return listed(request, entries, PipelineOut)


def _defaults(entry: Entry) -> dict[str, Any]:
    return entry.config().model_dump(mode="json")
