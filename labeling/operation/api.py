"""How background work stands, as the status pages show it."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from labeling.core.api.base import READING, ApiView
from labeling.core.api.described import extend_schema
from labeling.core.api.records import serializer_with
from labeling.core.models.projects import limit_of
from labeling.jobs import jobs
from labeling.jobs.jobs import Scope
from labeling.models import Membership, Project
from labeling.operation import status as service

READER = (Membership.Role.LEAD, Membership.Role.RESEARCHER)


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


class StatusView(ApiView):
    scopes = READING

    @extend_schema(responses=StatusOut)
    def get(self, request: Request) -> Response:
        """Background work: of the whole server for administrators, else of projects that I read."""
        return Response(StatusOut(service.of(_scope_of(request.user))).data)


def _scope_of(user: Any) -> Scope:
    if user.is_superuser and limit_of(user) is None:
        return None
    reading = Project.objects.with_role(user, *READER)
    return list(reading.values_list("pk", flat=True))
