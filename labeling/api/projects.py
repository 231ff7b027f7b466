from __future__ import annotations

from typing import Any

from django.db.models import Prefetch
from django.shortcuts import get_object_or_404
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from labeling.api.base import LEADING, ApiView
from labeling.api.described import extend_schema
from labeling.api.errors import ErrorOut
from labeling.api.paging import ORDERED, PageOut, ordered_page
from labeling.models import Project, Round
from labeling.services.work import assignments, rounds


class ProjectOut(serializers.ModelSerializer[Project]):
    class Meta:
        model = Project
        fields = [
            *("slug", "name", "layers", "overlap"),
            *("kappa_threshold", "kappa_statistic", "label_f1_threshold"),
        ]


class ProjectPageOut(PageOut):
    results = ProjectOut(many=True)


class RoundOut(serializers.ModelSerializer[Round]):
    guideline = serializers.IntegerField(source="guideline.version")

    class Meta:
        model = Round
        fields = ["number", "kind", "state", "guideline", "overlap", "pool", "opened_at"]


class ProjectDetailOut(ProjectOut):
    rounds = RoundOut(many=True)
    progress = serializers.SerializerMethodField()
    gate_open = serializers.SerializerMethodField()

    class Meta(ProjectOut.Meta):
        fields = [*ProjectOut.Meta.fields, "gate_open", "progress", "rounds"]

    def get_progress(self, project: Project) -> dict[str, int]:
        return assignments.progress(project)

    def get_gate_open(self, project: Project) -> bool:
        return rounds.gate_is_open(project)


class ProjectListView(ApiView):
    scopes = LEADING

    @extend_schema(parameters=ORDERED, responses={200: ProjectPageOut, 400: ErrorOut})
    def get(self, request: Request) -> Response:
        """The projects I have a role in, by name."""
        visible = Project.objects.visible_to(request.user)
        return ordered_page(request, visible, ProjectOut, by=("name", "pk"))


class ProjectView(ApiView):
    scopes = LEADING

    @extend_schema(responses={200: ProjectDetailOut, 404: ErrorOut})
    def get(self, request: Request, slug: str) -> Response:
        """A project with its rounds and progress (leads and researchers)."""
        readable: Any = Project.objects.with_role(request.user, "lead", "researcher")
        rounds_of_work = Prefetch("rounds", Round.objects.labelling().select_related("guideline"))
        project = get_object_or_404(readable.prefetch_related(rounds_of_work), slug=slug)
        return Response(ProjectDetailOut(project).data)
