from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from django.db.models import DateTimeField, Value
from django.db.models.functions import Coalesce
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from labeling.core.api.base import OWN_WORK, ApiView
from labeling.core.api.described import extend_schema
from labeling.core.api.paging import PAGING, page, page_of
from labeling.core.api.records import row_of
from labeling.core.api.requests import user_of
from labeling.models import Assignment
from labeling.work import assignments

IN_ORDER = ("closed_at", "round__kind", "round_id", "position", "pk")
STILL_OPEN = Value(datetime(1970, 1, 1, tzinfo=UTC), DateTimeField())


AssignmentOut = row_of(
    "AssignmentOut",
    Assignment,
    *("id", "returned_reason", "lease_expires_at"),
    status=serializers.CharField(help_text="pending, draft, submitted or skipped"),
    conversation=serializers.CharField(source="conversation.external_id"),
    project=serializers.CharField(source="round.project.slug"),
    round=serializers.IntegerField(source="round.number"),
)


class NextOut(serializers.Serializer[Any]):
    assignment = serializers.IntegerField(allow_null=True, help_text="null: nothing is left")


class QueueView(ApiView, scopes=OWN_WORK):
    @extend_schema(parameters=PAGING, responses=page_of(AssignmentOut))
    def get(self, request: Request) -> Response:
        """My work, in the order to work through; closed rounds last."""
        rows = assignments.queue(user_of(request))
        rows = rows.annotate(
            closed_at=Coalesce("round__closed_at", STILL_OPEN),
            status=Coalesce("annotation__status", Value("pending")),
        )
        return page(request, rows, AssignmentOut, by=IN_ORDER)


class NextView(ApiView, scopes=OWN_WORK):
    @extend_schema(request=None, responses=NextOut)
    def post(self, request: Request) -> Response:
        """The next conversation to label, taken from a pool if nothing is planned."""
        assignment = assignments.next_for(user_of(request))
        return Response({"assignment": assignment.pk if assignment else None})
