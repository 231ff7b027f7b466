from __future__ import annotations

from typing import Any

from django.shortcuts import get_object_or_404
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.exceptions import PermissionDenied
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from labeling.api.errors import ErrorOut
from labeling.models import Round
from labeling.services import agreement


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


class AgreementOut(serializers.Serializer[Any]):
    statistic = serializers.CharField()
    value = serializers.FloatField(allow_null=True)
    threshold = serializers.FloatField()
    passed = serializers.BooleanField()
    pairs = PairOut(many=True)
    fleiss_kappa = serializers.FloatField(allow_null=True)
    krippendorff_alpha = serializers.FloatField(allow_null=True)


class AgreementView(APIView):
    @extend_schema(responses={200: AgreementOut, 403: ErrorOut, 404: ErrorOut})
    def get(self, request: Request, slug: str, number: int) -> Response:
        """Agreement of one round (leads and researchers)."""
        visible = Round.objects.visible_to(request.user).select_related("project")
        found = get_object_or_404(visible, project__slug=slug, number=number)
        if found.is_blind:
            raise PermissionDenied("A calibration round is blind until its last answer is in.")
        return Response(agreement.of_round(found).as_json())
