"""Pages of a list: each names the id with which the next one continues."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import OpenApiParameter
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

PAGE_SIZE = 100
AFTER = OpenApiParameter("after", int, description="Go on after this id (`next` of the last page)")
BEFORE = OpenApiParameter("before", int, description="Older than this id (`next` of the last page)")


def page(
    rows: Any, shape: type[serializers.BaseSerializer[Any]], *, key: str = "pk", **extra: Any
) -> Response:
    """The first of ``rows``, which are ordered by ``key``."""
    loaded = list(rows[: PAGE_SIZE + 1])
    shown = loaded[:PAGE_SIZE]
    following = getattr(shown[-1], key) if len(loaded) > PAGE_SIZE else None
    return Response({"next": following, "results": shape(shown, many=True).data, **extra})


def position(request: Request, name: str) -> int | None:
    field = serializers.IntegerField(min_value=0, max_value=2**63 - 1, required=False)
    text = request.query_params.get(name)
    if text is None:
        return None
    try:
        return int(field.run_validation(text))
    except serializers.ValidationError as error:
        raise serializers.ValidationError({name: error.detail}) from error
