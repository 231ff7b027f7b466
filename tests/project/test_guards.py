"""Every guarded table, attacked in SQL: what is frozen stays, on both databases."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from typing import Any, NamedTuple

import pytest
from django.apps import apps
from django.core.management import call_command
from django.core.management.base import SystemCheckError
from django.db import DatabaseError, connection, models, transaction
from django.utils import timezone

from evaluation.models.guards import GUARDS as OF_EVALUATION
from labeling.core.models import guards

pytestmark = [pytest.mark.postgres, pytest.mark.django_db]

GUARDS = [*guards.GUARDS, *OF_EVALUATION]
TABLES = sorted({guard.table for guard in GUARDS})
NOW = timezone.now()
SENTENCES = {guard.sentence for guard in GUARDS}
FROZEN: dict[str, dict[str, Any]] = {
    "labeling_annotation": {"status": "submitted"},
    "evaluation_answersample": {"closed_at": NOW},
    "evaluation_answerrating": {"frozen": True},
    "evaluation_rating": {"frozen": True},
}
"""What makes a row of a table frozen, where not every row is."""

PUBLISHED = {"labeling_golditem": "labeling_goldrelease"}
"""The table whose row, of the same key, makes one frozen."""

CHANGED = {
    "labeling_annotation": "payload",
    "labeling_comment": "body",
    "labeling_conversation": "project_id",
    "labeling_firstpass": "version",
    "evaluation_answersample": "seed",
}
"""The column that an attack changes, where not every column is guarded."""

KEPT, OTHER = 1_000_001, 1_000_002  # primary keys


class Target(NamedTuple):
    """A table with a frozen row, whose primary key is KEPT, and one that is not, OTHER."""

    model: type[models.Model]
    column: str

    @property
    def table(self) -> str:
        return self.model._meta.db_table

    @property
    def key(self) -> str:
        return str(self.model._meta.pk.column)

    def rewritten(self, **changed: str) -> str:
        """Columns, and a query of the frozen row with some of them changed to SQL values."""
        columns = [field.column for field in self.model._meta.concrete_fields]
        values = [changed.get(column, f'"{column}"') for column in columns]
        named = ", ".join(f'"{column}"' for column in columns)
        return f"({named}) SELECT {', '.join(values)} FROM {self.table} WHERE {self.key} = {KEPT}"


Attack = Callable[[Target], list[str]]


def update(target: Target) -> list[str]:
    return [f"UPDATE {target.table} SET {target.column} = {other_value(target)}"]


def delete(target: Target) -> list[str]:
    return [f"DELETE FROM {target.table} WHERE {target.key} = {KEPT}"]


def upsert(target: Target) -> list[str]:
    change = f"DO UPDATE SET {target.column} = {other_value(target)}"
    return [f"INSERT INTO {target.table} {target.rewritten()} ON CONFLICT ({target.key}) {change}"]


def truncate(target: Target) -> list[str]:
    return [f"TRUNCATE {target.table} CASCADE"]


def merge(target: Target) -> list[str]:
    return [
        f"MERGE INTO {target.table} USING (SELECT 1) AS one ON {target.key} = {KEPT}"
        f" WHEN MATCHED THEN UPDATE SET {target.column} = {other_value(target)}"
    ]


def replace(target: Target) -> list[str]:
    change = {target.column: other_value(target)}
    return [f"INSERT OR REPLACE INTO {target.table} {target.rewritten(**change)}"]


def replace_by_update(target: Target) -> list[str]:
    move = f"SET {target.key} = {KEPT} WHERE {target.key} = {OTHER}"
    return [f"UPDATE OR REPLACE {target.table} {move}"]


EVERYWHERE: list[Attack] = [update, delete, upsert]
ATTACKS: dict[str, list[Attack]] = {
    "sqlite": [*EVERYWHERE, replace, replace_by_update],
    "postgresql": [*EVERYWHERE, merge, truncate],
}


def other_value(target: Target) -> str:
    """An expression that has another value than the column of the frozen row."""
    column = f"{target.table}.{target.column}"
    match target.model._meta.get_field(target.column):
        case models.BooleanField():
            return f"NOT {column}"
        case models.IntegerField() | models.ForeignKey() | models.BigIntegerField():
            return f"{column} + 1"
        case models.JSONField():
            return """'{"forged": 1}'"""
    return "'forged'"


@pytest.mark.parametrize("table", TABLES)
def test_no_statement_changes_or_removes_what_is_frozen(table: str) -> None:
    target = target_of(table)
    operations = operations_of(table)

    with transaction.atomic():  # nothing of this is committed
        insert_rows(target)
        before = frozen_row(target)
        for attack in ATTACKS[connection.vendor]:
            if attack not in (update, upsert, merge) and "DELETE" not in operations:
                continue
            for statement in attack(target):
                with pytest.raises(DatabaseError) as refusal, transaction.atomic():
                    run_sql(statement)
                assert any(sentence in str(refusal.value) for sentence in SENTENCES), statement
                assert frozen_row(target) == before
        transaction.set_rollback(True)
    if connection.vendor == "sqlite":
        run_sql("PRAGMA ignore_check_constraints = OFF")


def test_a_draft_may_still_be_replaced_and_rows_that_are_not_frozen_may_go() -> None:
    """The guards refuse no more than they say."""
    target = target_of("labeling_annotation")
    with transaction.atomic():
        insert_rows(target)
        run_sql(f"UPDATE labeling_annotation SET assignment_id = 77 WHERE id = {OTHER}")
        run_sql(f"DELETE FROM labeling_annotation WHERE id = {OTHER}")
        transaction.set_rollback(True)
    if connection.vendor == "sqlite":
        run_sql("PRAGMA ignore_check_constraints = OFF")


def test_the_check_at_deployment_names_each_guard_that_is_missing() -> None:
    assert guards.missing(connection) == guards.missing(connection, OF_EVALUATION) == []
    guards.remove(connection, [guard for guard in GUARDS if guard.table == "labeling_event"])

    assert set(guards.missing(connection)) == {
        "guard_labeling_event_update",
        "guard_labeling_event_delete",
        *(["guard_labeling_event_delete_all"] if connection.vendor == "postgresql" else []),
    }
    with pytest.raises(SystemCheckError, match="no trigger guard_labeling_event_update"):
        call_command("check", deploy=True, databases=["default"], tags=["database"])


def operations_of(table: str) -> set[str]:
    return {guard.operation for guard in GUARDS if guard.table == table}


def target_of(table: str) -> Target:
    model = next(model for model in apps.get_models() if model._meta.db_table == table)
    own, others = row_of(model, KEPT), row_of(model, OTHER)
    differing = [
        field.column
        for field in model._meta.concrete_fields
        if not field.primary_key and own[field.attname] != others[field.attname]
    ]
    return Target(model, CHANGED.get(table, differing[0]))


def insert_rows(target: Target) -> None:
    """Without what they refer to, and without constraints that only a whole product fulfils."""
    if connection.vendor == "sqlite":
        run_sql("PRAGMA defer_foreign_keys = ON")
        run_sql("PRAGMA ignore_check_constraints = ON")
    else:
        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT conname FROM pg_constraint"
                " WHERE conrelid = %s::regclass AND contype IN ('c', 'f')",
                [target.table],
            )
            for (name,) in cursor.fetchall():
                cursor.execute(f'ALTER TABLE {target.table} DROP CONSTRAINT "{name}"')
    if target.table in PUBLISHED:
        insert_rows(target_of(PUBLISHED[target.table]))
    frozen = target.model(**row_of(target.model, KEPT) | FROZEN.get(target.table, {}))
    target.model._base_manager.bulk_create([frozen, target.model(**row_of(target.model, OTHER))])


def row_of(model: type[models.Model], number: int) -> dict[str, Any]:
    return {field.attname: value_of(field, number) for field in model._meta.concrete_fields}


def value_of(field: Any, number: int) -> Any:
    match field:
        case models.ForeignKey() | models.AutoField() | models.BigAutoField():
            return number
        case models.BooleanField():
            return False
        case models.JSONField():
            return {}
        case models.UUIDField():
            return uuid.UUID(int=number)
        case models.DateTimeField():
            return None if field.null else NOW
        case models.PositiveSmallIntegerField() | models.SmallIntegerField():
            return number - KEPT + 1
        case models.IntegerField():
            return number
        case models.FloatField():
            return 0.5
    if field.null:
        return None
    return field.choices[0][0] if field.choices else str(number)[: field.max_length or None]


def frozen_row(target: Target) -> tuple[Any, ...]:
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT * FROM {target.table} WHERE {target.key} = {KEPT}")
        [row] = cursor.fetchall()
        return tuple(row)


def run_sql(statement: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute(statement)
