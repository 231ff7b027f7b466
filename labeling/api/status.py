"""How background work stands, as the status pages show it."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from labeling.api.base import READING, ApiView
from labeling.api.described import extend_schema
from labeling.models import Membership, Project
from labeling.models.projects import limit_of
from labeling.services import jobs
from labeling.services import status as service
from labeling.services.jobs import Scope
from labeling.words import words

READER = (Membership.Role.LEAD, Membership.Role.RESEARCHER)


class JobOut(serializers.Serializer[Any]):
    kind = serializers.CharField(help_text="run, freeze, answers, …")
    key = serializers.IntegerField(help_text="Names it, with its kind")
    project = serializers.CharField(source="project.slug", allow_null=True, default=None)
    title = serializers.CharField()
    is_at_work = serializers.BooleanField(help_text="false: it waits for a worker")
    is_stuck = serializers.BooleanField(help_text="Its holder is gone, or holds it too long")
    since = serializers.DateTimeField(help_text="Since when it waits, or is in work")
    done = serializers.IntegerField(allow_null=True)
    total = serializers.IntegerField(allow_null=True)


class FailureOut(serializers.Serializer[Any]):
    kind = serializers.CharField()
    project = serializers.CharField(source="project.slug", allow_null=True, default=None)
    title = serializers.CharField()
    at = serializers.DateTimeField()
    why = serializers.SerializerMethodField()

    def get_why(self, failure: jobs.Failure) -> str:
        return words(failure.why)


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

    @extend_schema(responses={200: StatusOut})
    def get(self, request: Request) -> Response:
        """Background work: of the whole server for administrators, else of projects that I read."""
        return Response(StatusOut(service.of(_scope_of(request.user))).data)


def _scope_of(user: Any) -> Scope:
    if user.is_superuser and limit_of(user) is None:
        return None
    reading = Project.objects.with_role(user, *READER)
    return list(reading.values_list("pk", flat=True))
