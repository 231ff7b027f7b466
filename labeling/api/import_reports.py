"""Reports of imports of published files: figures by file, and every fault."""

from __future__ import annotations

from typing import Any

from django.shortcuts import get_object_or_404
from drf_spectacular.utils import OpenApiParameter
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from labeling.api.base import READING, ApiView
from labeling.api.described import extend_schema
from labeling.api.errors import ErrorOut
from labeling.api.paging import NEWEST_FIRST, OLDEST_FIRST, PageOut, listed, page
from labeling.models import ImportReport
from labeling.services import access


class ImportReportOut(serializers.ModelSerializer[ImportReport]):
    created_by = serializers.CharField(
        source="created_by.username", default=None, allow_null=True, help_text="null: a command"
    )
    files = serializers.ListField(
        child=serializers.DictField(), help_text="Name and SHA-256 of each"
    )

    class Meta:
        model = ImportReport
        fields = ["id", "format", "files", "created_by", "created_at"]


class ImportReportPageOut(PageOut):
    results = ImportReportOut(many=True)


class ImportFaultOut(serializers.Serializer[Any]):
    kind = serializers.CharField()
    file = serializers.CharField()
    place = serializers.CharField()
    text = serializers.CharField()


class ImportFaultPageOut(PageOut):
    report = ImportReportOut()
    counts = serializers.ListField(child=serializers.DictField(), help_text="Figures of each file")
    results = ImportFaultOut(many=True)


class ImportsView(ApiView):
    scopes = READING

    @extend_schema(
        parameters=NEWEST_FIRST, responses={200: ImportReportPageOut, 400: ErrorOut, 404: ErrorOut}
    )
    def get(self, request: Request, slug: str) -> Response:
        """Imports of published files, newest first (leads and researchers)."""
        reports = access.readable(request.user, slug).import_reports.select_related("created_by")
        rows = reports.defer("counts", "faults", "dia_ids")
        return page(request, rows, ImportReportOut, newest_first=True)


class ImportView(ApiView):
    scopes = READING

    @extend_schema(
        parameters=[
            OpenApiParameter("file", str, description="Only of this file"),
            OpenApiParameter("kind", str, description="Only of this kind"),
            *OLDEST_FIRST,
        ],
        responses={200: ImportFaultPageOut, 400: ErrorOut, 404: ErrorOut},
    )
    def get(self, request: Request, slug: str, pk: int) -> Response:
        """What one of them found wrong in its files (leads and researchers)."""
        reports = access.readable(request.user, slug).import_reports.select_related("created_by")
        report = get_object_or_404(reports.defer("dia_ids"), pk=pk)
        wanted = {
            name: value for name in ("file", "kind") if (value := request.query_params.get(name))
        }
        faults = [fault for fault in report.faults if wanted.items() <= fault.items()]
        return listed(
            request,
            faults,
            ImportFaultOut,
            report=ImportReportOut(report).data,
            counts=report.counts,
        )
