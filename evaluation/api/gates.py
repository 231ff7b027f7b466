from __future__ import annotations

from typing import Any

from django.shortcuts import get_object_or_404
from rest_framework import serializers, status
from rest_framework.request import Request
from rest_framework.response import Response

from evaluation.models import Run
from evaluation.services import looks
from evaluation.services.run import gates
from labeling.core.api.base import RUNNING, ApiView
from labeling.core.api.described import extend_schema
from labeling.core.api.records import serializer_of
from labeling.core.api.requests import sent


class GateIn(serializers.Serializer[Any]):
    baseline = serializers.IntegerField(
        default=None, allow_null=True, help_text="An earlier run: fails if this one is worse"
    )
    strict = serializers.BooleanField(
        default=False, help_text="A drop beyond its limit fails also where it is undecided"
    )


GateOut = serializer_of(gates.Gate)


class LastGateOut(serializers.Serializer[Any]):
    last = GateOut(allow_null=True, help_text="null: nobody has asked about these figures")


class RunGateView(ApiView, scopes=RUNNING):
    @extend_schema(responses=LastGateOut)
    def get(self, request: Request, pk: int) -> Response:
        """What the gate said last of the run's figures; null also where they have been computed
        again since."""
        result = gates.last_of(_run(request, pk))
        return Response({"last": gates.as_json(result) if result else None})

    @extend_schema(request=GateIn, responses={201: GateOut})
    def post(self, request: Request, pk: int) -> Response:
        """Check the thresholds of a finished run, and what became worse since a baseline.

        ``passed`` says whether it may be let through; each answer is kept.
        """
        run = _run(request, pk)
        asked = sent(request, GateIn)
        number = asked["baseline"]
        result = gates.ask(
            run,
            baseline=None if number is None else _run(request, number),
            strict=asked["strict"],
            by=request.user,
        )
        return Response(gates.as_json(result), status=status.HTTP_201_CREATED)


def _run(request: Request, pk: int) -> Run:
    visible = Run.objects.visible_to(request.user).with_progress()
    run = get_object_or_404(visible.select_related("release__project", "look"), pk=pk)
    looks.require(request.user, run)
    return run
