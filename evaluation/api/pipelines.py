from __future__ import annotations

from typing import Any

from drf_spectacular.utils import OpenApiParameter
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from evaluation.access import require_reader
from evaluation.layers import GOLD_LAYERS
from labeling.core.api.base import READING, ApiView
from labeling.core.api.described import extend_schema
from labeling.core.api.paging import PAGING, listed, page_of
from labeling.core.api.records import computed
from labeling.translation import translated
from pipelines.registry import PIPELINES, Entry


def _defaults(entry: Entry) -> dict[str, Any]:
    return entry.config().model_dump(mode="json")


class PipelineOut(serializers.Serializer[Any]):
    name = serializers.CharField()
    title = computed(serializers.CharField, lambda entry: translated(entry.title))
    summary = computed(serializers.CharField, lambda entry: translated(entry.summary))
    layers = serializers.ListField(child=serializers.CharField(), help_text="That it fits")
    needs_model = serializers.BooleanField(help_text="A language model, with any settings")
    asks_model = computed(
        serializers.BooleanField,
        lambda entry: entry.asks_model(_defaults(entry)),
        help_text="Whether it asks a language model with its defaults",
    )
    floor = serializers.BooleanField(help_text="A yardstick, not an attempt")
    suggests = serializers.BooleanField(help_text="Its labels can be suggested to annotators")
    defaults = computed(
        serializers.DictField, _defaults, help_text="Its settings where a launch names none"
    )
    options = computed(
        serializers.DictField,
        lambda entry: entry.config.model_json_schema(),
        help_text="Its settings as JSON Schema: names, types, limits and what they mean",
    )


class PipelinesView(ApiView, scopes=READING):
    @extend_schema(
        parameters=[*PAGING, OpenApiParameter("layer", str, enum=list(GOLD_LAYERS))],
        responses=page_of(PipelineOut),
    )
    def get(self, request: Request) -> Response:
        """The pipelines that can be launched, with their settings and the layers they fit."""
        require_reader(request.user)
        entries = list(PIPELINES.values())
        if layer := request.query_params.get("layer"):
            entries = [entry for entry in entries if layer in entry.layers]
        return listed(request, entries, PipelineOut)
