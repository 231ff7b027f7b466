from __future__ import annotations

from typing import Any, cast

from django.contrib.auth.models import User
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from labeling.models import Assignment
from labeling.services import assignments

PAGE = 200


class AssignmentOut(serializers.ModelSerializer[Assignment]):
    status = serializers.CharField(help_text="pending, draft, submitted or skipped")
    conversation = serializers.CharField(source="conversation.external_id")
    project = serializers.CharField(source="round.project.slug")
    round = serializers.IntegerField(source="round.number")

    class Meta:
        model = Assignment
        fields = ["id", "project", "round", "conversation", "status", "lease_expires_at"]


class NextOut(serializers.Serializer[Any]):
    assignment = serializers.IntegerField(allow_null=True, help_text="null: nothing is left")


class QueueView(APIView):
    @extend_schema(responses=AssignmentOut(many=True))
    def get(self, request: Request) -> Response:
        """My work, in order; at most 200 rows."""
        return Response(AssignmentOut(assignments.queue(_user(request))[:PAGE], many=True).data)


class NextView(APIView):
    @extend_schema(request=None, responses=NextOut)
    def post(self, request: Request) -> Response:
        """The next conversation to label, taken from a pool if nothing is planned."""
        found = assignments.next_for(_user(request))
        return Response({"assignment": found.pk if found else None})


def _user(request: Request) -> User:
    """The signed-in user: permissions have let nobody else through."""
    return cast(User, request.user)
