"""Everybody's labels as files: down for readers, up for leads."""

from __future__ import annotations

from functools import partial
from typing import Any

from django.core.files.uploadedfile import UploadedFile
from django.http.response import HttpResponseBase
from drf_spectacular.types import OpenApiTypes
from rest_framework import serializers
from rest_framework.parsers import MultiPartParser
from rest_framework.request import Request
from rest_framework.response import Response

from labeling.conversations.forms.uploads import check_size
from labeling.core import access
from labeling.core.api.base import LEADING, ApiView
from labeling.core.api.described import extend_schema
from labeling.core.api.parsing import ShallowJSONParser
from labeling.core.api.records import FactField, serializer_with
from labeling.core.api.requests import asked, checked_by, sent, user_of
from labeling.exchange import label_exports, label_imports
from labeling.exchange.forms import LabelUploadForm
from labeling.exchange.label_imports import LabelReport

READ = [name for name, _title in LabelUploadForm.base_fields["format"].choices]  # type: ignore[attr-defined]


class LabelsFormIn(serializers.Serializer[Any]):
    form = serializers.ChoiceField(list(label_exports.FORMATS), default="native")


class LabelsIn(serializers.Serializer[Any]):
    file = serializers.FileField(allow_empty_file=True)
    format = serializers.ChoiceField(READ, default="native")
    create_annotators = serializers.BooleanField(
        default=False, help_text="Make inactive accounts for people who are not in the project"
    )
    reason = serializers.CharField(
        default="",
        allow_blank=True,
        max_length=1000,
        help_text="Why these labels count; needed while no calibration round has passed",
    )
    dry_run = serializers.BooleanField(default=False)

    def validate_file(self, file: UploadedFile) -> UploadedFile:
        checked_by(partial(check_size, command="import_labels"), file.size or 0)
        return file


LabelsOut = serializer_with(
    "LabelReportOut",
    LabelReport,
    losses=None,
    notes=serializers.ListField(
        child=FactField(), source="losses", help_text="What was converted or left out"
    ),
)


class LabelFilesView(ApiView, scopes=LEADING):
    parser_classes = [MultiPartParser, ShallowJSONParser]  # a JSON body gets what is missing

    @extend_schema(
        parameters=[LabelsFormIn],
        responses={
            (200, "application/x-ndjson"): OpenApiTypes.STR,
            (200, "application/json"): {"type": "array", "items": {"type": "object"}},
        },
    )
    def get(self, request: Request, slug: str) -> HttpResponseBase:
        """All submitted and skipped answers as a file (leads and researchers)."""
        project = access.readable(request.user, slug)
        form = asked(request, LabelsFormIn)["form"]
        return label_exports.download(project, form, user_of(request))

    @extend_schema(
        request={"multipart/form-data": LabelsIn},
        responses={200: LabelsOut, 201: LabelsOut},
    )
    def post(self, request: Request, slug: str) -> Response:
        """Store the answers of a file that can be taken (leads); with `dry_run` only say what."""
        project = access.led(request.user, slug)
        fields = sent(request, LabelsIn)
        file = fields.pop("file")
        report = label_imports.import_labels(
            project=project, files=[(file.name or "file", file)], by=user_of(request), **fields
        )
        is_stored = report.is_new and not fields["dry_run"]
        return Response(LabelsOut(report).data, status=201 if is_stored else 200)
