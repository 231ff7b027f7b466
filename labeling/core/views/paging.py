"""Keyset pagination: the next page starts after a row, so that page 500 costs what page 1 does."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple
from urllib.parse import urlencode

from django.db.models import QuerySet
from django.http import HttpRequest

from labeling.core.keysets import following_rows
from labeling.domain.numbers import whole_number

PAGE = 100


class Page(NamedTuple):
    """``after`` is what to continue with (an id, or a place in a list), None on the last page."""

    rows: list[Any]
    after: int | None


def page_of(
    rows: QuerySet[Any], *, order: Sequence[str], after: str | None, anchors: QuerySet[Any]
) -> Page:
    """Up to 100 rows that follow the row with the id ``after``.

    ``order`` names the columns, ``-`` in front for descending, and must end in a unique one.
    ``anchors`` are the rows that ``after`` may name: the row that ended the last page may have
    left ``rows`` (it was submitted, say) since then. An unknown ``after`` gives the first page.
    """
    names = [column.lstrip("-") for column in order]
    start = None
    if (last := whole_number(after or "")) is not None:
        start = anchors.order_by().filter(pk=last).values_list(*names).first()
    if start is not None and None not in start:
        rows = rows.filter(following_rows(order, start))
    loaded = list(rows.order_by(*order)[: PAGE + 1])
    return Page(loaded[:PAGE], loaded[PAGE - 1].pk if len(loaded) > PAGE else None)


def part_of(rows: Sequence[Any], *, start: str | None) -> Page:
    """Up to 100 rows of a list that lies in one row of the database and is read whole."""
    first = whole_number(start or "") or 0
    end = first + PAGE
    return Page(list(rows[first:end]), end if len(rows) > end else None)


def query_of(request: HttpRequest, *without: str) -> str:
    """The filters without the place, for the link to the next page; without others, too."""
    left_out = {"after", *without}
    chosen = {name: list(filter(None, values)) for name, values in request.GET.lists()}
    return urlencode({k: v for k, v in chosen.items() if k not in left_out}, doseq=True)
