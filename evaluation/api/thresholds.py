from __future__ import annotations

from typing import Any

from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from evaluation.metrics.gate import DEFAULTS, MAX_DROP
from evaluation.services.launch import thresholds
from labeling.api.base import ApiView, reading_and
from labeling.api.described import extend_schema
from labeling.api.errors import ErrorOut
from labeling.api.requests import sent, user_of
from labeling.domain.scopes import Scope
from labeling.models import Project
from labeling.services import access


class ThresholdsIn(serializers.Serializer[Any]):
    """What holds from now on. What is left out is as the product has it."""

    thresholds = serializers.DictField(
        child=serializers.FloatField(allow_null=True),
        default=dict,
        help_text="By metric; null lifts the product's default",
    )
    max_drop = serializers.FloatField(
        default=None, allow_null=True, help_text=f"Against a baseline; null: {MAX_DROP}"
    )
    min_coverage = serializers.FloatField(
        default=None, allow_null=True, help_text="Share of cases with a value; null: not asked for"
    )


class ThresholdsOut(serializers.Serializer[Any]):
    thresholds = serializers.DictField(
        child=serializers.FloatField(), help_text="By metric what is in force, defaults included"
    )
    defaults = serializers.DictField(child=serializers.FloatField())
    max_drop = serializers.FloatField()
    min_coverage = serializers.FloatField(allow_null=True)
    changed_by = serializers.CharField(allow_null=True)
    changed_at = serializers.DateTimeField(allow_null=True, help_text="null: the product's own")


class ThresholdsView(ApiView):
    scopes = reading_and(Scope.RUNS)

    @extend_schema(responses={200: ThresholdsOut, 404: ErrorOut})
    def get(self, request: Request, slug: str) -> Response:
        """What the project's gate asks of runs that are launched from now on."""
        return Response(_shown(access.readable(request.user, slug)))

    @extend_schema(
        request=ThresholdsIn,
        responses={200: ThresholdsOut, 400: ErrorOut, 403: ErrorOut, 404: ErrorOut},
    )
    def put(self, request: Request, slug: str) -> Response:
        """Set them all (leads). Runs that were launched before keep their gate."""
        project = access.led(request.user, slug)
        fields = sent(request, ThresholdsIn)
        thresholds.store(
            project,
            fields["thresholds"],
            fields["max_drop"],
            min_coverage=fields["min_coverage"],
            by=user_of(request),
        )
        return Response(_shown(project))


def _shown(project: Project) -> dict[str, Any]:
    own = thresholds.own_of(project)
    shown = {
        **thresholds.in_force(own),
        "defaults": DEFAULTS,
        "changed_by": own.changed_by.get_username() if own and own.changed_by else None,
        "changed_at": own.changed_at if own else None,
    }
    return dict(ThresholdsOut(shown).data)
