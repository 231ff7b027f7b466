"""What the API says of runs beside themselves: gate, report, comparison."""

from __future__ import annotations

from typing import Any

from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter
from rest_framework import serializers, status
from rest_framework.request import Request
from rest_framework.response import Response

from evaluation.access import require_reader
from evaluation.models import Run
from evaluation.report.cases import MOST_CASES
from evaluation.report.content import CASES, Report
from evaluation.report.reading import FORMS
from evaluation.services import looks
from evaluation.services.run import conclusions, gates
from evaluation.services.run.comparisons import MOST_RUNS, compare_with
from labeling.core.api.base import READING, RUNNING, ApiView
from labeling.core.api.described import extend_schema
from labeling.core.api.records import serializer_of, serializer_with
from labeling.core.api.requests import asked, sent
from labeling.domain.numbers import whole_number


class GateIn(serializers.Serializer[Any]):
    baseline = serializers.IntegerField(
        default=None, allow_null=True, help_text="An earlier run: fails if this one is worse"
    )
    strict = serializers.BooleanField(
        default=False, help_text="A drop beyond its limit fails also where it is undecided"
    )


GateOut = serializer_of(gates.Gate)


class LastGateOut(serializers.Serializer[Any]):
    last = GateOut(allow_null=True, help_text="null: nobody has asked about these figures")


class RunGateView(ApiView, scopes=RUNNING):
    @extend_schema(responses=LastGateOut)
    def get(self, request: Request, pk: int) -> Response:
        """What the gate said last of the run's figures; null also where they have been computed
        again since."""
        result = gates.last_of(_run(request, pk))
        return Response({"last": gates.as_json(result) if result else None})

    @extend_schema(request=GateIn, responses={201: GateOut})
    def post(self, request: Request, pk: int) -> Response:
        """Check the thresholds of a finished run, and what became worse since a baseline.

        ``passed`` says whether it may be let through; each answer is kept.
        """
        run = _run(request, pk)
        asked = sent(request, GateIn)
        number = asked["baseline"]
        result = gates.ask(
            run,
            baseline=None if number is None else _run(request, number),
            strict=asked["strict"],
            by=request.user,
        )
        return Response(gates.as_json(result), status=status.HTTP_201_CREATED)


def _run(request: Request, pk: int) -> Run:
    visible = Run.objects.visible_to(request.user).with_progress()
    run = get_object_or_404(visible.select_related("release__project", "look"), pk=pk)
    looks.require(request.user, run)
    return run


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


ComparisonOut = serializer_with("ComparisonOut", conclusions.Verdicts)


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
        baseline = _named(request, request.query_params.get("baseline", ""))
        numbers = request.query_params.getlist("run")[:MOST_RUNS]
        runs = [_named(request, number) for number in numbers]
        looks.require_comparison(request.user, [baseline, *runs])
        compared = compare_with(baseline, runs)
        return Response(ComparisonOut(conclusions.document(baseline, compared)).data)


def _named(request: Request, text: str) -> Run:
    number = whole_number(text)
    if number is None:
        raise serializers.ValidationError({"baseline, run": "A whole number is required."})
    visible = Run.objects.visible_to(request.user).select_related("release__project")
    return get_object_or_404(visible, pk=number)
