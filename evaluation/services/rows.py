"""Storing many rows by one statement that is prepared once.

``bulk_create`` writes a statement for every 80 rows and puts each value into it by itself, which
takes four times as long as storing them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Any

from django.db import connection
from django.db.models import Field, Model


def insert(
    rows: Sequence[Model],
    *,
    varying: Collection[str] = (),
    unique: Collection[str] = (),
    update: Collection[str] = (),
) -> None:
    """New rows of one model; nobody gets their keys.

    ``varying``: the fields by which they differ, if they do not in others. ``unique``: of a row
    that is there with the same values of these, ``update`` is replaced.
    """
    if not rows:
        return
    model = type(rows[0])
    fields = [field for field in model._meta.local_concrete_fields if not field.primary_key]
    quote = connection.ops.quote_name
    columns = {field.name: quote(str(field.column)) for field in fields}
    marks = ", ".join("%s" for _ in fields)
    table, names = quote(model._meta.db_table), ", ".join(columns.values())
    statement = f"INSERT INTO {table} ({names}) VALUES ({marks})"
    if unique:
        same = ", ".join(columns[name] for name in unique)
        replaced = ", ".join(f"{columns[name]} = EXCLUDED.{columns[name]}" for name in update)
        statement += f" ON CONFLICT ({same}) DO UPDATE SET {replaced}"
    with connection.cursor() as cursor:
        cursor.executemany(statement, list(_values(rows, fields, varying)))


def _values(
    rows: Sequence[Model], fields: Sequence[Field[Any, Any]], varying: Collection[str]
) -> Iterator[list[Any]]:
    first = [_stored(rows[0], field) for field in fields]
    different = [
        (at, field) for at, field in enumerate(fields) if not varying or field.name in varying
    ]
    for row in rows:
        values = list(first)
        for at, field in different:
            values[at] = _stored(row, field)
        yield values


def _stored(row: Model, field: Field[Any, Any]) -> Any:
    return field.get_db_prep_save(field.pre_save(row, add=True), connection)
