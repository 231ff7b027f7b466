"""Triggers that keep two columns up to date, so that nobody has to count when taking a place.

``RoundConversation.free``: how many of its places nobody has; ``Assignment.answered``: whether it
was submitted or skipped. Every way in which a place is taken or an answer changes counts, also an
import, a hand-over and a correction by hand. ``suspend`` takes them away before there is something
to migrate: SQLite rebuilds no table that the trigger of another names. ``renew`` writes them after
every ``migrate`` and counts what happened without them.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from django.core.checks import CheckMessage, Error
from django.db import connections, transaction

from labeling.models import guards

ASSIGNMENT, PLACE = "labeling_assignment", "labeling_roundconversation"
ROUND, ANNOTATION = "labeling_round", "labeling_annotation"
COLUMNS = {ASSIGNMENT: "answered", PLACE: "free"}
TAKEN = (
    f"SELECT COUNT(*) FROM {ASSIGNMENT} AS taken"
    " WHERE taken.purpose = 'labelling' AND taken.slot IS NOT NULL"
)


class Count(NamedTuple):
    name: str
    event: str
    table: str
    condition: str  # on OLD and NEW; "" for every row
    statement: str


def _places(of: str, change: str) -> str:
    where = f"round_id = {of}.round_id AND conversation_id = {of}.conversation_id"
    return f"UPDATE {PLACE} SET free = free {change} WHERE {where}"


def _answered(value: str, of: str) -> str:
    return f"UPDATE {ASSIGNMENT} SET answered = {value} WHERE id = {of}.assignment_id"


COUNTS = [
    Count(
        "count_place_new",
        "INSERT",
        PLACE,
        "",
        f"UPDATE {PLACE} SET free = (SELECT overlap FROM {ROUND} WHERE id = NEW.round_id)"
        f" - ({TAKEN} AND taken.round_id = NEW.round_id"
        " AND taken.conversation_id = NEW.conversation_id) WHERE id = NEW.id",
    ),
    Count(
        "count_place_taken",
        "INSERT",
        ASSIGNMENT,
        "NEW.purpose = 'labelling' AND NEW.slot IS NOT NULL",
        _places("NEW", "- 1"),
    ),
    Count(
        "count_place_changed",
        "UPDATE OF slot",
        ASSIGNMENT,
        "NEW.purpose = 'labelling' AND (OLD.slot IS NULL) <> (NEW.slot IS NULL)",
        _places("NEW", "+ (CASE WHEN NEW.slot IS NULL THEN 1 ELSE -1 END)"),
    ),
    Count(
        "count_place_left",
        "DELETE",
        ASSIGNMENT,
        "OLD.purpose = 'labelling' AND OLD.slot IS NOT NULL",
        _places("OLD", "+ 1"),
    ),
    Count(
        "count_overlap",
        "UPDATE OF overlap",
        ROUND,
        "OLD.overlap <> NEW.overlap",
        f"UPDATE {PLACE} SET free = free + NEW.overlap - OLD.overlap WHERE round_id = NEW.id",
    ),
    Count(
        "count_answer_new", "INSERT", ANNOTATION, "NEW.status <> 'draft'", _answered("TRUE", "NEW")
    ),
    Count(
        "count_answer_changed",
        "UPDATE OF status",
        ANNOTATION,
        "OLD.status <> NEW.status",
        _answered("(NEW.status <> 'draft')", "NEW"),
    ),
    Count("count_answer_gone", "DELETE", ANNOTATION, "", _answered("FALSE", "OLD")),
]

FREE = (
    f"(SELECT overlap FROM {ROUND} WHERE id = round_id)"
    f" - ({TAKEN} AND taken.round_id = {PLACE}.round_id"
    f" AND taken.conversation_id = {PLACE}.conversation_id)"
)
RECOUNT = [
    f"UPDATE {PLACE} SET free = {FREE} WHERE free <> {FREE}",
    f"UPDATE {ASSIGNMENT} SET answered = NOT answered WHERE answered <> EXISTS ("
    f"SELECT 1 FROM {ANNOTATION} WHERE assignment_id = {ASSIGNMENT}.id AND status <> 'draft')",
]
"""Only rows that are wrong are written: after most migrations there are none."""


def renew(connection: Any) -> None:
    """Write the triggers and count again, while nobody else takes a place or answers."""
    with transaction.atomic(using=connection.alias):
        _lock(connection)
        remove(connection)
        if _is_ready(connection):  # not after a migration backwards
            install(connection)
            with connection.cursor() as cursor:
                for statement in RECOUNT:
                    cursor.execute(statement)


def suspend(connection: Any) -> None:
    """Take them away until ``renew``."""
    with transaction.atomic(using=connection.alias):
        _lock(connection)
        remove(connection)


def _lock(connection: Any) -> None:
    guards.wait_for_other_migrations(connection)
    present = set(connection.introspection.table_names())
    in_order_of_work = [t for t in (ROUND, ASSIGNMENT, ANNOTATION, PLACE) if t in present]
    if connection.vendor == "postgresql" and in_order_of_work:
        with connection.cursor() as cursor:
            cursor.execute(f"LOCK TABLE {', '.join(in_order_of_work)}")


def correct(connection: Any, round_: int) -> None:
    """Count a round's places again that work without the triggers has left miscounted.

    One at a time, locked before it is counted: what others are about to count waits, and adds.
    """
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT id FROM {PLACE} WHERE round_id = %s AND free <> {FREE}", [round_])
        for place in cursor.fetchall():
            with transaction.atomic(using=connection.alias):
                if connection.vendor == "postgresql":
                    cursor.execute(f"SELECT 1 FROM {PLACE} WHERE id = %s FOR NO KEY UPDATE", place)
                cursor.execute(f"UPDATE {PLACE} SET free = {FREE} WHERE id = %s", place)


def install(connection: Any) -> None:
    with connection.cursor() as cursor:
        for count in COUNTS:
            for statement in _create(count, connection.vendor):
                cursor.execute(statement)


def remove(connection: Any) -> None:
    tables = set(connection.introspection.table_names())
    with connection.cursor() as cursor:
        for count in COUNTS:
            if connection.vendor == "sqlite":
                cursor.execute(f"DROP TRIGGER IF EXISTS {count.name}")
            elif count.table in tables:
                cursor.execute(f"DROP FUNCTION IF EXISTS {count.name}() CASCADE")


def errors(databases: Iterable[str]) -> list[CheckMessage]:
    """For ``check --deploy``: without its trigger a count stands still."""
    return [
        Error(
            f"The database {using} has no trigger {name}: free places are miscounted there.",
            hint="Run “manage.py migrate”, which writes all of them.",
            id="labeling.E002",
        )
        for using in databases
        for name in missing(connections[using])
    ]


def missing(connection: Any) -> list[str]:
    if not _is_ready(connection):
        return []
    with connection.cursor() as cursor:
        if connection.vendor == "sqlite":
            cursor.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'")
        else:
            cursor.execute("SELECT tgname FROM pg_trigger WHERE tgenabled IN ('O', 'A')")
        there = {name for (name,) in cursor.fetchall()}
    return [count.name for count in COUNTS if count.name not in there]


def _is_ready(connection: Any) -> bool:
    tables = set(connection.introspection.table_names())
    if not {ASSIGNMENT, PLACE, ROUND, ANNOTATION} <= tables:
        return False
    describe = connection.introspection.get_table_description
    with connection.cursor() as cursor:
        return all(
            column in {field.name for field in describe(cursor, table)}
            for table, column in COLUMNS.items()
        )


def _create(count: Count, vendor: str) -> list[str]:
    if vendor == "sqlite":
        when = f" WHEN {count.condition}" if count.condition else ""
        return [
            f"CREATE TRIGGER {count.name} AFTER {count.event} ON {count.table} FOR EACH ROW{when}"
            f" BEGIN {count.statement}; END"
        ]
    when = f" WHEN ({count.condition})" if count.condition else ""
    return [
        f"CREATE FUNCTION {count.name}() RETURNS trigger LANGUAGE plpgsql AS $$"
        f" BEGIN {count.statement}; RETURN NULL; END $$",
        f"CREATE TRIGGER {count.name} AFTER {count.event} ON {count.table} FOR EACH ROW{when}"
        f" EXECUTE FUNCTION {count.name}()",
    ]
