"""How background work stands, as the status page shows it."""

from __future__ import annotations

from typing import Any

from django.core.exceptions import PermissionDenied
from django.utils.translation import gettext as _
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from labeling.core.api.base import READING, ApiView
from labeling.core.api.described import extend_schema
from labeling.core.api.records import serializer_with
from labeling.core.models.projects import limit_of
from labeling.jobs import jobs
from labeling.operation import status as service

PROJECT: dict[str, Any] = {"source": "project.slug", "allow_null": True, "default": None}
JobOut = serializer_with(
    "JobOut",
    jobs.Job,
    project=serializers.CharField(**PROJECT),
    **dict.fromkeys(("url", "workers", "held_as")),
)
FailureOut = serializer_with(
    "FailureOut",
    jobs.Failure,
    project=serializers.CharField(**PROJECT),
    **dict.fromkeys(("key", "url")),
)


class StatusOut(serializers.Serializer[Any]):
    at = serializers.DateTimeField()
    workers_alive = serializers.IntegerField(source="alive")
    last_worker_seen_at = serializers.DateTimeField(
        source="last_seen", allow_null=True, help_text="null: none within a day"
    )
    waiting_since = serializers.DateTimeField(
        allow_null=True, help_text="Of the oldest job that waits; null: none does"
    )
    jobs = JobOut(many=True)
    failures = FailureOut(many=True, help_text="Of seven days, the newest 20")


class StatusView(ApiView, scopes=READING):
    @extend_schema(responses=StatusOut)
    def get(self, request: Request) -> Response:
        """Background work of the whole server (administrators)."""
        if not request.user.is_superuser or limit_of(request.user) is not None:
            raise PermissionDenied(_("Only an administrator sees the work of all projects."))
        return Response(StatusOut(service.now()).data)
