"""Pages of a list, all in one shape: ``results``, and in ``next`` the address of the next page.

The address goes on behind the last row, by the values that the list is ordered by: a list that
grows meanwhile neither repeats nor leaves out a row.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from functools import cache
from typing import Any

from django.core import signing
from django.db.models import QuerySet
from drf_spectacular.utils import OpenApiParameter
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.utils.urls import replace_query_param

from labeling.core.keysets import following_rows

PAGE_SIZE = 100
MOST = 500
LIMIT = OpenApiParameter("limit", int, description=f"Rows on a page: {PAGE_SIZE}, at most {MOST}")
CURSOR = OpenApiParameter("cursor", str, description="From `next`; it means nothing by itself")
PAGING = [CURSOR, LIMIT]
Shape = type[serializers.BaseSerializer[Any]]


class NextField(serializers.URLField):
    def __init__(self, **options: Any) -> None:
        text = "The address of the next page; null: this is the last one"
        super().__init__(allow_null=True, help_text=text, **options)


class PageOut(serializers.Serializer[Any]):
    """Of a list that says more than its rows, derive the shape with ``results``."""

    next = NextField()


@cache
def page_of(row: Shape) -> type[PageOut]:
    """What a page of such rows looks like."""
    members = {"results": row(many=True), "__module__": __name__}
    return type(f"{row.__name__.removesuffix('Out')}PageOut", (PageOut,), members)


def page(
    request: Request,
    rows: QuerySet[Any],
    shape: Shape,
    *,
    by: Sequence[str] = ("pk",),
    prepared: Callable[[list[Any]], Sequence[Any]] = list,
    **extra: Any,
) -> Response:
    """A page of rows in the order of fields that are never null, of which the last is unique.

    ``prepared`` adds to the rows of the page what else is shown of them.
    """
    shown, following = part(request, rows, by=by)
    return Response({"next": following, "results": shape(prepared(shown), many=True).data, **extra})


def part(
    request: Request, rows: QuerySet[Any], *, by: Sequence[str]
) -> tuple[list[Any], str | None]:
    """The rows of such a page, and the address of the next one."""
    if (start := _start(request, by)) is not None:
        rows = rows.filter(following_rows(by, start))
    number = limit(request)
    loaded = list(rows.order_by(*by)[: number + 1])
    shown = loaded[:number]
    if len(loaded) <= number:
        return shown, None
    last = [_plain(_value(shown[-1], name.lstrip("-"))) for name in by]
    return shown, _following(request, by, last)


def listed(
    request: Request,
    rows: Sequence[Any],
    shape: Shape,
    *,
    prepared: Callable[[Sequence[Any]], Sequence[Any]] = list,
    **extra: Any,
) -> Response:
    """A page of what is not in the database, or is computed as a whole."""
    (start,) = _start(request, []) or [0]
    end = start + limit(request)
    following = _following(request, [], [end]) if end < len(rows) else None
    shown = shape(prepared(rows[start:end]), many=True).data
    return Response({"next": following, "results": shown, **extra})


def limit(request: Request) -> int:
    field = serializers.IntegerField(min_value=1, max_value=MOST)
    try:
        return int(field.run_validation(request.query_params.get("limit", PAGE_SIZE)))
    except serializers.ValidationError as error:
        raise serializers.ValidationError({"limit": error.detail}) from error


def address(request: Request, name: str, value: str) -> str:
    return replace_query_param(request.build_absolute_uri(), name, value)


def _following(request: Request, by: Sequence[str], last: list[Any]) -> str:
    return address(request, "cursor", signing.dumps(last, salt=_salt(by)))


def _start(request: Request, by: Sequence[str]) -> list[Any] | None:
    """The values that a cursor of this order was made of: nobody else makes one."""
    text = request.query_params.get("cursor")
    if text is None:
        return None
    try:
        start: list[Any] = signing.loads(text, salt=_salt(by))
    except signing.BadSignature:
        raise serializers.ValidationError({"cursor": ["Take it from `next` as it is."]}) from None
    return start


def _salt(by: Sequence[str]) -> str:
    return f"{__name__} {' '.join(by)}"


def _value(row: Any, path: str) -> Any:
    for name in path.split("__"):
        row = getattr(row, name)
    return row


def _plain(value: Any) -> Any:
    return value.isoformat() if isinstance(value, datetime) else value
