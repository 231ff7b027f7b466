"""Lists that go on after a row, so that page 500 costs what page 1 does."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.db.models import Q


def following_rows(order: Sequence[str], start: Sequence[Any]) -> Q:
    """(a, b) > (x, y) written out, because each column may run either way.

    ``order`` names the columns, ``-`` in front for descending; ``start`` are the values of the row.
    """
    condition, equal = Q(), Q()
    for column, value in zip(order, start, strict=True):
        name = column.lstrip("-")
        lookup = "lt" if column.startswith("-") else "gt"
        condition |= equal & Q(**{f"{name}__{lookup}": value})
        equal &= Q(**{name: value})
    return condition
