from __future__ import annotations

from typing import Any, NamedTuple

from django.http import Http404
from django.shortcuts import get_object_or_404
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from evaluation.services.judging import attempts, judges
from evaluation.services.judging.judges import Judge
from labeling.api.base import READING, ApiView
from labeling.api.described import extend_schema
from labeling.api.errors import ErrorOut
from labeling.models import Membership, Project


class AttemptsOut(serializers.Serializer[Any]):
    probes = serializers.ListField(child=serializers.DictField())
    samples = serializers.ListField(child=serializers.DictField())
    comparisons = serializers.ListField(child=serializers.DictField())


class _Tried(NamedTuple):
    judge: Judge
    attempts: attempts.Attempts


class JudgeOut(serializers.Serializer[Any]):
    kind = serializers.CharField(source="judge.key.kind")
    judge_sha256 = serializers.CharField(source="judge.key.sha256")
    model = serializers.CharField(source="judge.model")
    prompt = serializers.CharField(source="judge.prompt")
    prompt_sha256 = serializers.CharField(source="judge.prompt_sha256")
    parser = serializers.CharField(source="judge.parser")
    in_use = serializers.BooleanField(source="judge.in_use")
    state = serializers.CharField(source="judge.state", help_text=", ".join(judges.STATES))
    attempts = AttemptsOut(help_text="Probes, samples and comparisons with people, newest first")


class JudgeView(ApiView):
    scopes = READING

    @extend_schema(responses={200: JudgeOut, 404: ErrorOut})
    def get(self, request: Request, slug: str, kind: str, sha256: str) -> Response:
        """One judge of answers, and every attempt to certify it."""
        reading = (Membership.Role.LEAD, Membership.Role.RESEARCHER)
        project = get_object_or_404(Project.objects.with_role(request.user, *reading), slug=slug)
        judge = judges.find(project, kind, sha256)
        if judge is None:
            raise Http404
        tried = attempts.of_judge(project, kind, sha256)
        return Response(JudgeOut(_Tried(judge, tried)).data)
