from __future__ import annotations

from functools import partial
from typing import Any

from django.http import StreamingHttpResponse
from django.http.response import HttpResponseBase
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from evaluation.access import require_reader
from evaluation.models import Run
from evaluation.models.runs import RunQuerySet
from evaluation.services import looks
from evaluation.services.run import experiments, lists
from evaluation.services.run.lists import Asked
from labeling.api.base import READING, ApiView
from labeling.api.described import extend_schema
from labeling.api.errors import ErrorOut
from labeling.api.paging import PageOut, address, position

SORTED_BY = ("run", "gold", "pipeline", "primary")
GOLD = OpenApiParameter("gold", str, description="Only of releases of this name")


class ExperimentOut(serializers.Serializer[Any]):
    experiment_id = serializers.IntegerField(help_text="Of the run")
    date = serializers.CharField()
    name = serializers.CharField(allow_blank=True)
    gold = serializers.CharField()
    layer = serializers.CharField()
    pipeline = serializers.CharField()
    pipeline_version = serializers.CharField()
    train_exact_recall = serializers.FloatField(allow_null=True)
    train_precision = serializers.FloatField(allow_null=True)
    test_exact_recall = serializers.FloatField(allow_null=True)
    test_precision = serializers.FloatField(allow_null=True)
    dev_exact_recall = serializers.FloatField(allow_null=True)
    dev_precision = serializers.FloatField(allow_null=True)
    open_exact_recall = serializers.FloatField(allow_null=True)
    open_precision = serializers.FloatField(allow_null=True)
    all_exact_recall = serializers.FloatField(allow_null=True)
    all_precision = serializers.FloatField(allow_null=True)
    cases = serializers.IntegerField(allow_null=True)
    recall_ci_low = serializers.FloatField(allow_null=True)
    recall_ci_high = serializers.FloatField(allow_null=True)
    precision_ci_low = serializers.FloatField(allow_null=True)
    precision_ci_high = serializers.FloatField(allow_null=True)
    config_summary = serializers.CharField(allow_blank=True)
    config_changes = serializers.CharField(
        allow_blank=True, help_text="Since the run before on gold of the same name"
    )
    config_sha256 = serializers.CharField()
    commit = serializers.CharField(allow_null=True)
    synthetic = serializers.BooleanField()
    seen = serializers.IntegerField()
    left_out = serializers.IntegerField()
    unseen = serializers.IntegerField()
    sealed = serializers.BooleanField(help_text="Its test figures wait for a reason to look")
    config = serializers.DictField()
    baseline = serializers.BooleanField()
    split = serializers.CharField(help_text="train, dev, test, open (all but test) or all")


class ExperimentPageOut(PageOut):
    results = ExperimentOut(many=True)


class ExperimentsView(ApiView):
    scopes = READING

    @extend_schema(
        parameters=[
            GOLD,
            OpenApiParameter(
                "sort",
                str,
                enum=[*SORTED_BY, *(f"-{name}" for name in SORTED_BY)],
                description="With a minus the largest first; default: the newest first",
            ),
            OpenApiParameter("before", int, description="Go on behind this run, as `next` does"),
        ],
        responses={200: ExperimentPageOut, 400: ErrorOut, 404: ErrorOut},
    )
    def get(self, request: Request) -> Response:
        """The log of experiments: a row for each finished run, 25 on a page."""
        require_reader(request.user)
        sort = request.query_params.get("sort", "")
        if sort.removeprefix("-") not in ("", *SORTED_BY):
            raise serializers.ValidationError({"sort": [f"One of: {', '.join(SORTED_BY)}."]})
        asked = Asked(sort=sort, after=position(request, "before"))
        primary = lists.primaries(request.user)
        page = lists.page(_finished(request), asked, reader=request.user, primary=primary)
        sealed = partial(looks.sealed_among, request.user)
        shown = experiments.rows_of(page.numbers, sealed=sealed)
        following = page.following and address(request, "before", str(page.following))
        return Response(ExperimentPageOut({"next": following, "results": shown}).data)


class ExperimentFileView(ApiView):
    scopes = READING

    @extend_schema(
        parameters=[GOLD],
        responses={(200, "text/csv"): OpenApiTypes.STR, 403: ErrorOut, 404: ErrorOut},
    )
    def get(self, request: Request) -> HttpResponseBase:
        """The whole log as a table, oldest first."""
        require_reader(request.user)
        sealed = partial(looks.sealed_among, request.user)
        lines = experiments.csv_lines(experiments.rows(_finished(request), sealed=sealed))
        return StreamingHttpResponse(
            lines,
            content_type="text/csv; charset=utf-8",
            headers={"Content-Disposition": 'attachment; filename="experiments.csv"'},
        )


def _finished(request: Request) -> RunQuerySet:
    runs = Run.objects.visible_to(request.user).filter(scored_at__isnull=False)
    name = request.query_params.get("gold")
    return runs.filter(release__name=name) if name else runs
