"""Many rows of a table at once, without building models."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django.db import connection, models


def insert(
    model: type[models.Model], values: Iterable[tuple[Any, ...]], *, with_key: bool = False
) -> None:
    """Rows of all columns in the order of the model; the database counts the key, or it is given.

    Values are what the database takes: JSON as text, times as its adapter writes them.
    """
    fields = [field for field in model._meta.concrete_fields if with_key or not is_counted(field)]
    columns = ", ".join(f'"{field.column}"' for field in fields)
    table = f'"{model._meta.db_table}"'
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            with cursor.copy(f"COPY {table} ({columns}) FROM STDIN") as copy:
                for row in values:
                    copy.write_row(row)
            return
        marks = ", ".join(["%s"] * len(fields))
        cursor.executemany(f"INSERT INTO {table} ({columns}) VALUES ({marks})", list(values))


def is_counted(field: Any) -> bool:
    return isinstance(field, models.AutoField)
