"""Triggers that hold what Django cannot: rows that are written once and never change.

Each guard is (table, operation, condition, sentence). ``install`` writes it for the database in
use, after every migration. The tests remove the guards to empty the tables between tests.

SQLite deletes the row that ``REPLACE`` puts another one in place of, and asks a trigger for deletes
only where the connection has switched ``recursive_triggers`` on: ours have (see the settings).
PostgreSQL's ``ON CONFLICT DO UPDATE`` is an update, and refused as such. Whoever opens the file by
other means can remove triggers, too: ``assay verify`` names what they changed.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from django.core.checks import CheckMessage, Error
from django.db import connections, transaction


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
    Guard(
        "labeling_conversation",
        "UPDATE",
        "NEW.project_id <> OLD.project_id",
        "A conversation stays in its project.",
    ),
    *never("labeling_goldrelease", "A gold release is frozen: release a new version instead."),
    *never("labeling_golditem", "A gold item is frozen: release a new version instead."),
    *never("labeling_annotationrevision", "Revisions are append-only."),
    *never("labeling_event", "The audit log is append-only."),
    *never("labeling_guideline", "A guideline version never changes: write a new version."),
    *never("labeling_guidelinereason", "What led to a version never changes: write a new version."),
    *never("labeling_pseudonym", "A pseudonym never changes: released gold names it."),
    *never("labeling_review", "A review never changes: review again."),
    *never("labeling_adjudication", "A decision never changes: decide again."),
    *never("labeling_suggestion", "A suggestion never changes: labels were taken over from it."),
    *never("labeling_look", "A look at test items is never taken back."),
    *never("labeling_lookbudget", "A budget of looks stays on record: set another one."),
    *never("labeling_goldcheck", "A comparison with gold never changes: it is compared again."),
    Guard(
        "labeling_reopening",
        "UPDATE",
        # what became of it may change until it is settled
        "OLD.state NOT IN ('asked', 'open') OR NEW.reason <> OLD.reason"
        " OR NEW.item_id <> OLD.item_id OR NEW.asked_by_id <> OLD.asked_by_id",
        "A doubt about gold stays on record: doubt it again.",
    ),
    Guard("labeling_reopening", "DELETE", "", "A doubt about gold stays on record."),
    Guard(
        "labeling_firstpass",
        "UPDATE",
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
    Guard("labeling_transcript", "UPDATE", "", "The text of a conversation never changes."),
    Guard(
        "labeling_annotation",
        "UPDATE",
        # locking and reopening leave the content as it is
        "OLD.status = 'submitted' AND (OLD.locked_at IS NOT NULL OR NEW.payload <> OLD.payload"
        " OR NEW.empty <> OLD.empty"
        " OR COALESCE(NEW.unanswered, '[]') <> COALESCE(OLD.unanswered, '[]')"
        " OR NEW.status NOT IN ('submitted', 'draft'))",
        "A submitted annotation never changes.",
    ),
    Guard(
        "labeling_annotation",
        "DELETE",
        "OLD.status = 'submitted'",
        "A submitted annotation never changes.",
    ),
]


MIGRATING = 0x4153534159  # no other lock of PostgreSQL's has this number here


def renew(connection: Any, guards: list[Guard] = GUARDS) -> None:
    """Write them as the code has them now, without a moment in which they are gone."""
    with transaction.atomic(using=connection.alias):
        wait_for_other_migrations(connection)
        remove(connection, guards)
        install(connection, guards)


def wait_for_other_migrations(connection: Any) -> None:
    """Until the transaction ends, another machine that migrates waits with its triggers.

    On SQLite one transaction writes at a time anyway.
    """
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_advisory_xact_lock(%s)", [MIGRATING])


def install(connection: Any, guards: list[Guard] = GUARDS) -> None:
    present = _present(connection, guards)
    with connection.cursor() as cursor:
        for guard in present:
            for statement in _create(guard, connection.vendor):
                cursor.execute(statement)


def remove(connection: Any, guards: list[Guard] = GUARDS) -> None:
    with connection.cursor() as cursor:
        for guard in guards:
            for statement in _drop(guard, connection.vendor):
                cursor.execute(statement)


def missing(connection: Any, guards: list[Guard] = GUARDS) -> list[str]:
    """The names of triggers that the database should have and has not, or has switched off."""
    present = _present(connection, guards)
    wanted = [guard.name for guard in present]
    with connection.cursor() as cursor:
        if connection.vendor == "sqlite":
            cursor.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'")
        else:
            wanted += [f"{guard.name}_all" for guard in present if guard.operation == "DELETE"]
            cursor.execute("SELECT tgname FROM pg_trigger WHERE tgenabled IN ('O', 'A')")
        there = {name for (name,) in cursor.fetchall()}
    return [name for name in wanted if name not in there]


def errors(databases: Iterable[str], guards: list[Guard], *, id: str) -> list[CheckMessage]:
    """For ``check --deploy``: the triggers that each of these databases lacks."""
    return [
        Error(
            f"The database {using} has no trigger {name}: frozen rows can be changed there.",
            hint="Run “assay migrate”, which writes all of them.",
            id=id,
        )
        for using in databases
        for name in missing(connections[using], guards)
    ]


def _present(connection: Any, guards: list[Guard]) -> list[Guard]:
    tables = set(connection.introspection.table_names())  # fewer after a migration backwards
    return [guard for guard in guards if guard.table in tables]


def _create(guard: Guard, vendor: str) -> list[str]:
    sentence = _quoted(guard.sentence)
    if vendor == "sqlite":
        when = f" WHEN {guard.condition}" if guard.condition else ""
        return [
            f"CREATE TRIGGER {guard.name} BEFORE {guard.operation} ON {guard.table} FOR EACH ROW"
            f"{when} BEGIN SELECT RAISE(ABORT, {sentence}); END"
        ]
    refuse = f"RAISE EXCEPTION {sentence} USING ERRCODE = 'integrity_constraint_violation';"
    when = f" WHEN ({guard.condition})" if guard.condition else ""
    function = (
        f"CREATE FUNCTION {guard.name}() RETURNS trigger LANGUAGE plpgsql"
        f" AS $$ BEGIN {refuse} END $$"
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


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
