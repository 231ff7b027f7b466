"""A layer that nobody used in a calibration round: what a lead can do about it."""

from __future__ import annotations

from typing import Any

from django.http import Http404
from django.shortcuts import get_object_or_404
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from labeling.api.base import LEADING, ApiView
from labeling.api.described import extend_schema
from labeling.api.errors import ErrorOut
from labeling.api.requests import user_of
from labeling.api.rounds import rounds_of
from labeling.domain.schema import LAYERS
from labeling.models import Round
from labeling.services import access
from labeling.services.agreement import unused

LED = {403: ErrorOut, 404: ErrorOut, 409: ErrorOut}


class EmptyLayerOut(serializers.Serializer[Any]):
    layer = serializers.CharField()
    stated_by = serializers.CharField(source="stated_by.username")
    stated_at = serializers.DateTimeField()


class EmptyLayerView(ApiView):
    scopes = LEADING

    @extend_schema(request=None, responses={200: EmptyLayerOut, **LED})
    def put(self, request: Request, slug: str, number: int, layer: str) -> Response:
        """State that in this round nothing was to be found on the layer (leads)."""
        closed = _closed(request, slug, number, layer)
        return Response(EmptyLayerOut(unused.state_empty(closed, layer, by=user_of(request))).data)

    @extend_schema(responses={204: None, **LED})
    def delete(self, request: Request, slug: str, number: int, layer: str) -> Response:
        """Take the statement back (leads)."""
        unused.withdraw(_closed(request, slug, number, layer), layer, by=user_of(request))
        return Response(status=204)


class LayerOffView(ApiView):
    scopes = LEADING

    @extend_schema(request=None, responses={204: None, 400: ErrorOut, **LED})
    def post(self, request: Request, slug: str, number: int, layer: str) -> Response:
        """The project no longer labels the layer, from the next round on (leads)."""
        unused.take_off(_closed(request, slug, number, layer), layer, by=user_of(request))
        return Response(status=204)


def _closed(request: Request, slug: str, number: int, layer: str) -> Round:
    project = access.led(request.user, slug)
    closed = get_object_or_404(rounds_of(project), number=number)
    if layer not in LAYERS:
        raise Http404
    return closed
