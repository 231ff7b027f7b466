"""Statements that every save repeats, put together once instead of each time.

Django needs several times longer to write a statement than SQLite to carry it out. What people do
all day (save, submit, take the next) is therefore written once in each thread, still by Django from
the models, and then only filled in.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from threading import local
from typing import Any, Generic, TypeVar

from django.db import DEFAULT_DB_ALIAS, connection, connections
from django.db.models import Field, Model, QuerySet
from django.db.models.query import FlatValuesListIterable, get_related_populators

Row = TypeVar("Row")

MARK = -(2**30)
"""Numbers from here down mark the places of the parameters; no row has such a key.

They fit the smallest type of a key: a condition that none can meet is written as no query at all,
and keys of users have four bytes on PostgreSQL.
"""

LARGEST = 2**63 - 1
"""No database takes a larger number, and no row has one; an address may."""


class Prepared(Generic[Row]):
    """A query whose parameters are whole numbers, for example keys.

    ``write`` gets one number for each parameter and returns a query of models or a
    ``values_list``; conditions on anything but these numbers are fixed.
    """

    def __init__(self, write: Callable[..., QuerySet[Any, Row]]) -> None:
        self._write = write
        self._threads = local()

    def rows(self, *numbers: int) -> list[Row]:
        if any(abs(number) > LARGEST for number in numbers):
            return []
        statement = getattr(self._threads, "statement", None)
        if statement is None or statement.connection is not _connection():
            marks = [MARK - place for place in range(len(numbers))]
            statement = self._threads.statement = _Statement(self._write(*marks), marks)
        return list(statement.rows(numbers))

    def first(self, *numbers: int) -> Row | None:
        """The query limits itself."""
        return next(iter(self.rows(*numbers)), None)


class _Statement:
    def __init__(self, queryset: QuerySet[Any], marks: list[int]) -> None:
        self.connection = _connection()
        self._compiler = queryset.query.get_compiler(connection=self.connection)
        self._sql, params = self._compiler.as_sql()
        places = {mark: place for place, mark in enumerate(marks)}
        self._params = [
            (places.get(param) if _is_number(param) else None, param) for param in params
        ]
        select = self._compiler.select
        self._converters = self._compiler.get_converters([column[0] for column in select])
        self._is_flat = queryset._iterable_class is FlatValuesListIterable
        self._has_values = queryset._fields is not None  # type: ignore[attr-defined]
        if self._has_values:
            return
        about = self._compiler.klass_info
        fields = about["select_fields"]
        self._model = about["model"]
        self._columns = slice(fields[0], fields[-1] + 1)
        self._names = [column[0].target.attname for column in select[self._columns]]
        populators: Any = get_related_populators  # its types are those of another version
        self._related = populators(about, select, DEFAULT_DB_ALIAS)

    def rows(self, numbers: tuple[int, ...]) -> Iterator[Any]:
        params = [param if place is None else numbers[place] for place, param in self._params]
        with prepared_cursor() as cursor:
            cursor.execute(self._sql, params)
            stored: Iterable[Any] = cursor.fetchall()
        if self._converters:
            stored = self._compiler.apply_converters(stored, self._converters)
        for row in stored:
            yield self._values(row) if self._has_values else self._instance(row)

    def _values(self, row: Sequence[Any]) -> Any:
        return row[0] if self._is_flat else tuple(row)

    def _instance(self, row: Sequence[Any]) -> Model:
        instance: Model = self._model.from_db(DEFAULT_DB_ALIAS, self._names, row[self._columns])
        for related in self._related:
            related.populate(row, instance)
        for name, column in (self._compiler.annotation_col_map or {}).items():
            setattr(instance, name, row[column])
        return instance


def _is_number(param: Any) -> bool:
    return isinstance(param, int) and not isinstance(param, bool)


def _connection() -> Any:
    """This thread's own; ``connection`` itself stands for that of any thread."""
    return connections[DEFAULT_DB_ALIAS]


def prepared_cursor() -> Any:
    """For a statement that is always the same; PostgreSQL plans it once in a connection."""
    database = _connection()
    return database.cursor() if database.vendor == "sqlite" else database.prepared_cursor()


def insert(row: Model) -> None:
    """Store a new row, as ``save`` does it, without signals. The caller holds a transaction."""
    model, key = type(row), row._meta.pk
    fields, sql = _insertion(model)
    database = _connection()
    values = [
        field.get_db_prep_save(field.pre_save(row, add=True), connection=database)
        for field in fields
    ]
    with prepared_cursor() as cursor:
        cursor.execute(sql, values)
        setattr(row, key.attname, cursor.fetchone()[0])
    row._state.adding, row._state.db = False, DEFAULT_DB_ALIAS


@cache
def _insertion(model: type[Model]) -> tuple[list[Field[Any, Any]], str]:
    fields = [field for field in model._meta.concrete_fields if not field.primary_key]
    names = ", ".join(_quoted(field.column) for field in fields)
    places = ", ".join(["%s"] * len(fields))
    table, key = _quoted(model._meta.db_table), _quoted(model._meta.pk.column)
    return fields, f"INSERT INTO {table} ({names}) VALUES ({places}) RETURNING {key}"


NOT_NULL = object()


def update(model: type[Model], where: Mapping[str, Any], **values: Any) -> int:
    """How many rows were changed; ``where`` holds what a field must be equal to, or NOT_NULL."""
    sql, written, compared = _updating(
        model, tuple(values), tuple((name, value is NOT_NULL) for name, value in where.items())
    )
    database = _connection()
    params = [
        field.get_db_prep_save(value, connection=database)
        for field, value in zip(written, values.values(), strict=True)
    ] + [field.get_db_prep_value(where[field.name], database) for field in compared]
    with prepared_cursor() as cursor:
        cursor.execute(sql, params)
        return int(cursor.rowcount)


@cache
def _updating(
    model: type[Model], values: tuple[str, ...], where: tuple[tuple[str, bool], ...]
) -> tuple[str, list[Field[Any, Any]], list[Field[Any, Any]]]:
    field_of = {field.name: field for field in model._meta.concrete_fields}
    changes = ", ".join(f"{_quoted(field_of[name].column)} = %s" for name in values)
    conditions = " AND ".join(
        f"{_quoted(field_of[name].column)} {'IS NOT NULL' if any_value else '= %s'}"
        for name, any_value in where
    )
    sql = f"UPDATE {_quoted(model._meta.db_table)} SET {changes} WHERE {conditions}"
    compared = [field_of[name] for name, any_value in where if not any_value]
    return sql, [field_of[name] for name in values], compared


def _quoted(name: str | None) -> str:
    return str(connection.ops.quote_name(name or ""))
