from __future__ import annotations

from typing import Any

from django.shortcuts import get_object_or_404
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from evaluation.access import require_reader
from evaluation.metrics.comparison import Comparison
from evaluation.models import Run
from evaluation.services import looks
from evaluation.services.run import conclusions
from evaluation.services.run.comparisons import MOST_RUNS, compare_with
from labeling.core.api.base import READING, ApiView
from labeling.core.api.described import extend_schema
from labeling.core.api.records import serializer_with
from labeling.domain.numbers import whole_number

MetricComparisonOut = serializer_with(
    "MetricComparisonOut",
    Comparison,
    direction=serializers.CharField(help_text="higher or lower is better"),
    role=serializers.CharField(help_text="primary, main or exploratory"),
    p_value_corrected=serializers.FloatField(allow_null=True),
    level=serializers.FloatField(help_text="Of the interval, which is that of the corrected test"),
    margin=serializers.FloatField(allow_null=True, help_text="Smallest difference of interest"),
    conversations_needed=serializers.IntegerField(allow_null=True),
    verdict=serializers.CharField(),
    sentence=serializers.CharField(help_text="Empty for exploratory metrics"),
)


class ComparedRunOut(serializers.Serializer[Any]):
    run = serializers.IntegerField()
    name = serializers.CharField()
    pipeline = serializers.CharField()
    pipeline_version = serializers.CharField()
    config_sha256 = serializers.CharField()
    split = serializers.CharField(allow_null=True)


class SelectionOut(serializers.Serializer[Any]):
    """What choosing the best of several runs does to the test of the primary metric."""

    runs = serializers.IntegerField(
        help_text="Finished runs on this gold and split, without the baseline and floors"
    )
    p_value = serializers.FloatField(
        allow_null=True, help_text="If this run was chosen because it came out best of them"
    )


class ComparedOut(ComparedRunOut):
    cases = serializers.IntegerField(help_text="Cases of both runs: these are compared")
    only_baseline = serializers.IntegerField()
    only_run = serializers.IntegerField()
    changed = serializers.DictField(help_text="Settings that differ, with both values")
    judges_differ = serializers.ListField(child=serializers.CharField())
    selection = SelectionOut()
    primary = serializers.DictField(help_text="metric, margin, since when, and seen in which runs")
    verdict = serializers.CharField(help_text="That of the primary metric")
    sentence = serializers.CharField()
    metrics = serializers.DictField(child=MetricComparisonOut())


class ComparisonOut(serializers.Serializer[Any]):
    baseline = ComparedRunOut()
    gold = serializers.CharField()
    metrics_version = serializers.CharField()
    runs = ComparedOut(many=True)
    exposure = serializers.DictField(help_text="By run: cases seen, left_out, unseen, unknown")


class ComparisonView(ApiView, scopes=READING):
    @extend_schema(
        parameters=[
            OpenApiParameter("baseline", OpenApiTypes.INT, required=True),
            OpenApiParameter("run", OpenApiTypes.INT, required=True, many=True),
        ],
        responses=ComparisonOut,
    )
    def get(self, request: Request) -> Response:
        """Runs next to a baseline: verdict, sentence, and every metric; corrected together."""
        require_reader(request.user)
        baseline = _run(request, request.query_params.get("baseline", ""))
        numbers = request.query_params.getlist("run")[:MOST_RUNS]
        runs = [_run(request, number) for number in numbers]
        looks.require_comparison(request.user, [baseline, *runs])
        compared = compare_with(baseline, runs)
        return Response(ComparisonOut(conclusions.document(baseline, compared)).data)


def _run(request: Request, text: str) -> Run:
    number = whole_number(text)
    if number is None:
        raise serializers.ValidationError({"baseline, run": "A whole number is required."})
    visible = Run.objects.visible_to(request.user).select_related("release__project")
    return get_object_or_404(visible, pk=number)
