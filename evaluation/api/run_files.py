"""What pages of a run have for download, next to its report."""

from __future__ import annotations

from typing import Any

from django.http import HttpResponse
from drf_spectacular.types import OpenApiTypes
from rest_framework import serializers
from rest_framework.exceptions import NotFound
from rest_framework.request import Request

from evaluation.views import plots
from evaluation.views.document import document_file, opened_case
from evaluation.views.opening import opened_run
from labeling.api.base import READING, ApiView
from labeling.api.described import extend_schema
from labeling.api.errors import ErrorOut
from labeling.api.requests import asked
from pipelines.requirements.document.files import FORMS


class PlotIn(serializers.Serializer[Any]):
    form = serializers.ChoiceField(plots.FORMS, default="svg")


class RunPlotView(ApiView):
    scopes = READING

    @extend_schema(
        parameters=[PlotIn],
        responses={
            (200, "image/svg+xml"): OpenApiTypes.STR,
            (200, "text/csv"): OpenApiTypes.STR,
            400: ErrorOut,
            403: ErrorOut,
            404: ErrorOut,
        },
    )
    def get(self, request: Request, pk: int, name: str) -> HttpResponse:
        """A plot of a run as a picture, or its figures; 404 where the run has none of that name."""
        run = opened_run(request._request, pk)
        file = plots.plot_file(run, name, asked(request, PlotIn)["form"])
        if file is None:
            raise NotFound(f"This run has no such plot. There are: {', '.join(plots.PLOTS)}.")
        return file


class DocumentIn(serializers.Serializer[Any]):
    form = serializers.ChoiceField(list(FORMS), default="md")


class RunDocumentView(ApiView):
    scopes = READING

    @extend_schema(
        parameters=[DocumentIn],
        responses={
            **{
                (200, form.content_type.partition(";")[0]): OpenApiTypes.BINARY
                for form in FORMS.values()
            },
            400: ErrorOut,
            403: ErrorOut,
            404: ErrorOut,
        },
    )
    def get(self, request: Request, pk: int, case: int) -> HttpResponse:
        """The requirements document that a pipeline wrote of a case."""
        opened = opened_case(request._request, pk, case)
        file = document_file(opened, asked(request, DocumentIn)["form"])
        if file is None:
            raise NotFound("The pipeline wrote no document of this case.")
        return file
