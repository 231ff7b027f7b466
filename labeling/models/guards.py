"""Triggers that hold what Django cannot: rows that are written once and never change.

Each guard is (table, operation, condition, sentence). ``install`` writes it for the database in
use, after every migration. The tests remove the guards to empty the tables between tests.
"""

from __future__ import annotations

from typing import Any, NamedTuple


class Guard(NamedTuple):
    table: str
    operation: str  # UPDATE or DELETE
    condition: str  # on OLD and NEW; "" refuses always
    sentence: str

    @property
    def name(self) -> str:
        return f"guard_{self.table}_{self.operation.lower()}"


def never(table: str, sentence: str) -> list[Guard]:
    return [Guard(table, operation, "", sentence) for operation in ("UPDATE", "DELETE")]


GUARDS = [
    *never("labeling_goldrelease", "A gold release is frozen: release a new version instead."),
    *never("labeling_golditem", "A gold item is frozen: release a new version instead."),
    *never("labeling_annotationrevision", "Revisions are append-only."),
    *never("labeling_event", "The audit log is append-only."),
    *never("labeling_guideline", "A guideline version never changes: write a new version."),
    *never("labeling_review", "A review never changes: review again."),
    *never("labeling_adjudication", "A decision never changes: decide again."),
    *never("labeling_suggestion", "A suggestion never changes: labels were taken over from it."),
    *never("labeling_goldcheck", "A comparison with gold never changes: it is compared again."),
    Guard(
        "labeling_firstpass",
        "UPDATE",
        # what is dismissed may change
        "NEW.version <> OLD.version OR NEW.assignment_id <> OLD.assignment_id",
        "A first pass is declared once.",
    ),
    Guard("labeling_firstpass", "DELETE", "", "A first pass is declared once."),
    Guard(
        "labeling_comment",
        "UPDATE",
        # resolving changes neither what was said nor who said it
        "NEW.body <> OLD.body OR NEW.author_id <> OLD.author_id OR NEW.label_uid <> OLD.label_uid",
        "A comment never changes: write another one.",
    ),
    Guard("labeling_comment", "DELETE", "", "A comment never changes: write another one."),
    Guard("labeling_message", "UPDATE", "", "The text of a conversation never changes."),
    Guard(
        "labeling_annotation",
        "UPDATE",
        # locking and reopening leave the content as it is
        "OLD.status = 'submitted' AND (OLD.locked_at IS NOT NULL OR NEW.payload <> OLD.payload"
        " OR NEW.empty <> OLD.empty OR NEW.status NOT IN ('submitted', 'draft'))",
        "A submitted annotation never changes.",
    ),
    Guard(
        "labeling_annotation",
        "DELETE",
        "OLD.status = 'submitted'",
        "A submitted annotation never changes.",
    ),
]


def install(connection: Any, guards: list[Guard] = GUARDS) -> None:
    tables = set(connection.introspection.table_names())  # fewer after a migration backwards
    with connection.cursor() as cursor:
        for guard in (guard for guard in guards if guard.table in tables):
            for statement in _create(guard, connection.vendor):
                cursor.execute(statement)


def remove(connection: Any, guards: list[Guard] = GUARDS) -> None:
    with connection.cursor() as cursor:
        for guard in guards:
            for statement in _drop(guard, connection.vendor):
                cursor.execute(statement)


def _create(guard: Guard, vendor: str) -> list[str]:
    sentence = guard.sentence.replace("'", "''")
    if vendor == "sqlite":
        when = f" WHEN {guard.condition}" if guard.condition else ""
        return [
            f"CREATE TRIGGER {guard.name} BEFORE {guard.operation} ON {guard.table} FOR EACH ROW"
            f"{when} BEGIN SELECT RAISE(ABORT, '{sentence}'); END"
        ]
    when = f" WHEN ({guard.condition})" if guard.condition else ""
    function = (
        f"CREATE FUNCTION {guard.name}() RETURNS trigger LANGUAGE plpgsql AS $$"
        f" BEGIN RAISE EXCEPTION '{sentence}' USING ERRCODE = 'integrity_constraint_violation';"
        f" END $$"
    )
    trigger = (
        f"CREATE TRIGGER {guard.name} BEFORE {guard.operation} ON {guard.table}"
        f" FOR EACH ROW{when} EXECUTE FUNCTION {guard.name}()"
    )
    statements = [function, trigger]
    if guard.operation == "DELETE":  # TRUNCATE fires no row trigger
        statements.append(
            f"CREATE TRIGGER {guard.name}_all BEFORE TRUNCATE ON {guard.table}"
            f" FOR EACH STATEMENT EXECUTE FUNCTION {guard.name}()"
        )
    return statements


def _drop(guard: Guard, vendor: str) -> list[str]:
    if vendor == "sqlite":
        return [f"DROP TRIGGER IF EXISTS {guard.name}"]
    return [f"DROP FUNCTION IF EXISTS {guard.name}() CASCADE"]  # with its triggers
