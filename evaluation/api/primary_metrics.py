from __future__ import annotations

from typing import Any

from django.core.exceptions import PermissionDenied
from django.shortcuts import get_object_or_404
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from evaluation.layers import GOLD_LAYERS
from evaluation.metrics.comparison import MARGIN
from evaluation.services.run import primary_metrics
from labeling.api.base import LEADING, ApiView
from labeling.api.described import extend_schema
from labeling.api.errors import ErrorOut
from labeling.models import Membership, Project


class PrimaryIn(serializers.Serializer[Any]):
    layer = serializers.ChoiceField(list(GOLD_LAYERS))
    metric = serializers.CharField(help_text="One of the main metrics of the layer")
    margin = serializers.FloatField(
        default=MARGIN,
        help_text="The smallest difference of interest, as a share of the metric's range",
    )


class PrimaryOut(serializers.Serializer[Any]):
    metric = serializers.CharField()
    margin = serializers.FloatField(allow_null=True, help_text="In the unit of the metric")
    margin_share = serializers.FloatField(help_text="As a share of the metric's range")
    declared_at = serializers.CharField(allow_null=True, help_text="null: the product's choice")
    declared_by = serializers.CharField(allow_null=True)


class PrimaryMetricsView(ApiView):
    scopes = LEADING

    @extend_schema(responses={200: serializers.DictField(child=PrimaryOut()), 404: ErrorOut})
    def get(self, request: Request, slug: str) -> Response:
        """Which metric decides comparisons of each layer, since when and by whom."""
        return Response(_shown(_project(request, slug)))

    @extend_schema(
        request=PrimaryIn,
        responses={200: serializers.DictField(child=PrimaryOut()), 400: ErrorOut, 404: ErrorOut},
    )
    def post(self, request: Request, slug: str) -> Response:
        """Declare the metric that decides from now on; for leads."""
        project = _project(request, slug)
        if Membership.Role.LEAD not in project.roles_of(request.user):
            raise PermissionDenied("Only a lead of the project may change it.")
        fields = PrimaryIn(data=request.data)
        fields.is_valid(raise_exception=True)
        primary_metrics.declare(project, **fields.validated_data, by=request.user)
        return Response(_shown(project))


def _project(request: Request, slug: str) -> Project:
    reading = (Membership.Role.LEAD, Membership.Role.RESEARCHER)
    return get_object_or_404(Project.objects.with_role(request.user, *reading), slug=slug)


def _shown(project: Project) -> dict[str, Any]:
    declared = primary_metrics.history(project)
    return {layer: primary_metrics.newest(layer, declared).as_json() for layer in GOLD_LAYERS}
