from __future__ import annotations

from typing import Any

from django.shortcuts import get_object_or_404
from drf_spectacular.utils import OpenApiParameter
from rest_framework import serializers
from rest_framework.exceptions import PermissionDenied, ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from labeling.api.base import READING, ApiView
from labeling.api.described import extend_schema
from labeling.api.errors import ErrorOut
from labeling.models import Round
from labeling.services.agreement import agreement, measurements
from labeling.words import worded


class PairOut(serializers.Serializer[Any]):
    a = serializers.CharField()
    b = serializers.CharField()
    kappa = serializers.FloatField(allow_null=True)
    band = serializers.CharField(allow_null=True)
    n = serializers.IntegerField(help_text="Messages that both judged")
    raw = serializers.FloatField(allow_null=True)
    positive_f1 = serializers.FloatField(allow_null=True)
    ac1 = serializers.FloatField(allow_null=True)
    ci_low = serializers.FloatField(allow_null=True)
    ci_high = serializers.FloatField(allow_null=True)
    undefined = serializers.CharField(allow_null=True, help_text="Why there is no κ")
    chance_above = serializers.FloatField(
        allow_null=True,
        required=False,
        help_text="How probable it is that the true figure is above the threshold",
    )


class OutlookOut(serializers.Serializer[Any]):
    true = serializers.FloatField(help_text="If this were the true figure of every pair")
    passes = serializers.FloatField(help_text="Share of rounds of this size that would pass")


class ContentOut(serializers.Serializer[Any]):
    value = serializers.FloatField(allow_null=True, help_text="F1 of matched labels")
    threshold = serializers.FloatField(help_text="0: turned off")
    passed = serializers.BooleanField()
    low = serializers.FloatField(allow_null=True)
    high = serializers.FloatField(allow_null=True)
    chance_above = serializers.FloatField(allow_null=True)
    reason = serializers.CharField(allow_null=True, help_text="Why it did not pass")


class AgreementOut(serializers.Serializer[Any]):
    statistic = serializers.CharField()
    value = serializers.FloatField(allow_null=True)
    threshold = serializers.FloatField()
    passed = serializers.BooleanField()
    outcome = serializers.CharField(
        required=False, help_text="passed, failed, or not_measured: nobody used the layer"
    )
    chance_above = serializers.FloatField(allow_null=True, required=False)
    outlook = OutlookOut(many=True, required=False)
    content = ContentOut(allow_null=True, required=False)
    measure = serializers.CharField(help_text="kappa, or f1 for events")
    pairs = PairOut(many=True)
    fleiss_kappa = serializers.FloatField(allow_null=True)
    krippendorff_alpha = serializers.FloatField(allow_null=True)
    by_origin = serializers.DictField(
        help_text="The same for typed and for assisted labels alone; empty without suggestions"
    )
    measured_at = serializers.DateTimeField(
        help_text="Answers that came in later are being measured: ask again in a moment"
    )


class AgreementView(ApiView):
    scopes = READING

    @extend_schema(
        parameters=[OpenApiParameter("layer", str, description="Default: the project's first")],
        responses={200: AgreementOut, 403: ErrorOut, 404: ErrorOut, 409: ErrorOut},
    )
    def get(self, request: Request, slug: str, number: int) -> Response:
        """Agreement of one round (leads and researchers)."""
        visible = Round.objects.labelling().visible_to(request.user).select_related("project")
        round_ = get_object_or_404(visible, project__slug=slug, number=number)
        if round_.is_blind:
            raise PermissionDenied("A calibration round is blind until its last answer is in.")
        layer = request.query_params.get("layer", "")
        if layer and layer not in round_.project.layers:
            raise ValidationError(
                {"layer": [f"This project labels {', '.join(round_.project.layers)}."]}
            )
        return Response(_figures(round_, layer or agreement.first_layer(round_.project)))


def _figures(round_: Round, layer: str) -> dict[str, Any]:
    """As a worker measured them; what came in since is measured now, and is there in a moment."""
    row = measurements.read(round_, layer)
    if row is None or measurements.is_outdated(row):
        measurements.ask(round_, layer)
    figures = measurements.figures_of(round_, layer)
    if figures is None:
        raise measurements.NotMeasured("agreement.not_measured")
    return {**worded(figures), "measured_at": row.measured_at if row else round_.closed_at}
