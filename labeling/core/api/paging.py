"""Pages of a list, all in one shape: ``results``, and in ``next`` the address of the next page.

The address goes on behind the last row (by its key, or by the values that the list is ordered by),
so a list that grows meanwhile neither repeats nor leaves out a row.
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
AFTER = OpenApiParameter("after", int, description="Go on after this id, as `next` does")
BEFORE = OpenApiParameter("before", int, description="Older than this id, as `next` asks for")
LIMIT = OpenApiParameter("limit", int, description=f"Rows on a page: {PAGE_SIZE}, at most {MOST}")
CURSOR = OpenApiParameter("cursor", str, description="From `next`; it means nothing by itself")
OLDEST_FIRST = [AFTER, LIMIT]
NEWEST_FIRST = [BEFORE, LIMIT]
ORDERED = [CURSOR, LIMIT]
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
    key: str = "pk",
    newest_first: bool = False,
    **extra: Any,
) -> Response:
    """A page of rows by their key, which is a whole number: ``before`` or ``after`` goes on."""
    shown, following = part(request, rows, key=key, newest_first=newest_first)
    return Response({"next": following, "results": shape(shown, many=True).data, **extra})


def part(
    request: Request, rows: QuerySet[Any], *, key: str = "pk", newest_first: bool = False
) -> tuple[list[Any], str | None]:
    """The rows of such a page, and the address of the next one."""
    name = "before" if newest_first else "after"
    if (position_ := position(request, name)) is not None:
        rows = rows.filter(**{f"{key}__{'lt' if newest_first else 'gt'}": position_})
    shown, has_more = _cut(request, rows.order_by(f"-{key}" if newest_first else key))
    return shown, address(request, name, str(getattr(shown[-1], key))) if has_more else None


def ordered_page(
    request: Request,
    rows: QuerySet[Any],
    shape: Shape,
    *,
    by: Sequence[str],
    prepared: Callable[[list[Any]], Sequence[Any]] = list,
    **extra: Any,
) -> Response:
    """A page of rows in another order, of fields that are never null; the last one is unique.

    ``prepared`` adds to the rows of the page what else is shown of them.
    """
    start = _start(request, by)
    if start is not None:
        rows = rows.filter(following_rows(by, start))
    shown, has_more = _cut(request, rows.order_by(*by))
    following = None
    if has_more:
        last = [_plain(_value(shown[-1], name.lstrip("-"))) for name in by]
        following = address(request, "cursor", signing.dumps(last, salt=_salt(by)))
    results = shape(prepared(shown), many=True).data
    return Response({"next": following, "results": results, **extra})


def listed(
    request: Request,
    rows: Sequence[Any],
    shape: Shape,
    *,
    prepared: Callable[[Sequence[Any]], Sequence[Any]] = list,
    **extra: Any,
) -> Response:
    """A page of what is not in the database, or is computed as a whole; ``after`` counts rows."""
    start = position(request, "after") or 0
    end = start + limit(request)
    following = address(request, "after", str(end)) if end < len(rows) else None
    shown = shape(prepared(rows[start:end]), many=True).data
    return Response({"next": following, "results": shown, **extra})


def limit(request: Request) -> int:
    number = _whole(request, "limit", least=1, most=MOST)
    return PAGE_SIZE if number is None else number


def position(request: Request, name: str) -> int | None:
    return _whole(request, name, least=0, most=2**63 - 1)


def _whole(request: Request, name: str, *, least: int, most: int) -> int | None:
    field = serializers.IntegerField(min_value=least, max_value=most, required=False)
    text = request.query_params.get(name)
    if text is None:
        return None
    try:
        return int(field.run_validation(text))
    except serializers.ValidationError as error:
        raise serializers.ValidationError({name: error.detail}) from error


def _cut(request: Request, rows: QuerySet[Any]) -> tuple[list[Any], bool]:
    number = limit(request)
    loaded = list(rows[: number + 1])
    return loaded[:number], len(loaded) > number


def address(request: Request, name: str, value: str) -> str:
    return replace_query_param(request.build_absolute_uri(), name, value)


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
