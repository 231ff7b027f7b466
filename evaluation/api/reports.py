from __future__ import annotations

from typing import Any

from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404
from drf_spectacular.types import OpenApiTypes
from rest_framework import serializers
from rest_framework.request import Request

from evaluation.models import Run
from evaluation.report.cases import MOST_CASES
from evaluation.report.content import CASES, Report
from evaluation.report.reading import FORMS
from evaluation.services import looks
from labeling.core.api.base import READING, ApiView
from labeling.core.api.described import extend_schema
from labeling.core.api.requests import asked


class ReportIn(serializers.Serializer[Any]):
    form = serializers.ChoiceField(list(FORMS), default="json")
    baseline = serializers.IntegerField(default=None, allow_null=True)
    cases = serializers.IntegerField(default=CASES, min_value=0, max_value=MOST_CASES)
    repetition = serializers.IntegerField(default=1)


class RunReportView(ApiView, scopes=READING):
    @extend_schema(
        parameters=[ReportIn],
        responses={
            (200, "application/json"): OpenApiTypes.OBJECT,
            (200, "text/html"): OpenApiTypes.STR,
            (200, "text/markdown"): OpenApiTypes.STR,
            (200, "application/xml"): OpenApiTypes.STR,
            (200, "text/csv"): OpenApiTypes.STR,
            (200, "application/x-ndjson"): OpenApiTypes.STR,
        },
    )
    def get(self, request: Request, pk: int) -> HttpResponseBase:
        """A report of a finished run in one of six forms, with the verdict against a baseline."""
        runs = Run.objects.visible_to(request.user).select_related("release__project", "look")
        run = get_object_or_404(runs.select_related("requested_by").with_progress(), pk=pk)
        looks.require(request.user, run)
        wanted = asked(request, ReportIn)
        form, number = FORMS[wanted["form"]], wanted["baseline"]
        baseline = None if number is None else get_object_or_404(runs, pk=number)
        report = Report(run, request.user, baseline, wanted["cases"], wanted["repetition"])
        return form.response(report, request.build_absolute_uri(run.get_absolute_url()))
