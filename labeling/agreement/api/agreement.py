from __future__ import annotations

from typing import Any

from django.http import StreamingHttpResponse
from django.shortcuts import get_object_or_404
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter
from rest_framework import serializers
from rest_framework.exceptions import PermissionDenied, ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from labeling.agreement import agreement, measurements
from labeling.agreement.measurements import ratings_file
from labeling.agreement.rules.agreement import Agreement, read_agreement
from labeling.core.api.base import READING, ApiView
from labeling.core.api.described import extend_schema
from labeling.core.api.records import serializer_with
from labeling.models import Round
from labeling.words import worded
from labeling.work import blindness

LAYER = OpenApiParameter("layer", str, description="Default: the project's first")


AgreementOut = serializer_with(
    "AgreementOut",
    Agreement,
    measured_at=serializers.DateTimeField(
        help_text="Answers that came in later are being measured: ask again in a moment"
    ),
)


class AgreementView(ApiView, scopes=READING):
    @extend_schema(
        parameters=[LAYER],
        responses=AgreementOut,
    )
    def get(self, request: Request, slug: str, number: int) -> Response:
        """Agreement of one round (leads and researchers)."""
        round_ = _round(request, slug, number)
        return Response(_figures(round_, _layer(request, round_)))


class RatingsView(ApiView, scopes=READING):
    @extend_schema(
        parameters=[LAYER],
        responses={(200, "text/csv"): OpenApiTypes.STR},
    )
    def get(self, request: Request, slug: str, number: int) -> StreamingHttpResponse:
        """What annotators said, unit by unit, as CSV (leads and researchers)."""
        round_ = _round(request, slug, number)
        blindness.refuse(request.user, round_.conversations.all())
        return ratings_file(round_, _layer(request, round_))


def _round(request: Request, slug: str, number: int) -> Round:
    visible = Round.objects.visible_to(request.user).select_related("project")
    round_ = get_object_or_404(visible, project__slug=slug, number=number)
    if round_.is_blind:
        raise PermissionDenied("A calibration round is blind until its last answer is in.")
    return round_


def _layer(request: Request, round_: Round) -> str:
    layer = request.query_params.get("layer", "")
    if layer and layer not in round_.project.layers:
        raise ValidationError(
            {"layer": [f"This project labels {', '.join(round_.project.layers)}."]}
        )
    return layer or agreement.first_layer(round_.project)


def _figures(round_: Round, layer: str) -> dict[str, Any]:
    """As a worker measured them; what came in since is measured now, and is there in a moment."""
    row, figures, _ = measurements.current(round_, layer)
    if figures is None:
        raise measurements.NotMeasured("agreement.not_measured")
    shown = worded(read_agreement(figures).as_json())
    return {**shown, "measured_at": row.measured_at if row else round_.closed_at}
