"""Triggers that keep columns up to date, so that neither taking a place nor a page has to count.

``RoundConversation.free``: how many of its places nobody has; ``Assignment.answered``, ``status``,
``active_seconds`` and ``answered_at``: what is known of its answer; ``ConversationState``: how far
a conversation is. Every way in which a place is taken or an answer changes counts, also an
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
CONVERSATION, STATE = "labeling_conversation", "labeling_conversationstate"
MERGE, DECISION = "labeling_merge", "labeling_adjudication"
REVIEW = "labeling_review"
TABLES = (ROUND, ASSIGNMENT, ANNOTATION, PLACE, REVIEW, CONVERSATION, MERGE, DECISION)
"""In the order of work: so migrations lock them, and wait for nobody who waits for them."""

COLUMNS = {ASSIGNMENT: "answered_at", PLACE: "free", STATE: "changes"}
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
    locks: str = ""
    """Whose states are locked before they are read: PostgreSQL sees what another transaction has
    stored only in statements that begin after it has waited for that."""


def _places(of: str, change: str) -> str:
    where = f"round_id = {of}.round_id AND conversation_id = {of}.conversation_id"
    return f"UPDATE {PLACE} SET free = free {change} WHERE {where}"


ANSWER = (
    f"UPDATE {ASSIGNMENT} SET answered = (NEW.status <> 'draft'), status = NEW.status,"
    " active_seconds = CASE WHEN NEW.status = 'submitted' THEN NEW.active_seconds END,"
    " answered_at = CASE WHEN NEW.status <> 'draft' THEN NEW.updated_at END"
    " WHERE id = NEW.assignment_id"
)
NO_ANSWER = (
    f"UPDATE {ASSIGNMENT} SET answered = FALSE, status = 'pending', active_seconds = NULL,"
    " answered_at = NULL WHERE id = OLD.assignment_id"
)

# --- how far a conversation is --------------------------------------------------------------------

WORK = (
    f"FROM {ASSIGNMENT} AS work JOIN {ROUND} AS held ON held.id = work.round_id"
    f" WHERE work.conversation_id = {STATE}.conversation_id AND work.purpose = 'labelling'"
)
COUNTS_AS_ANSWER = (
    "(work.status = 'submitted' OR"
    " (work.status = 'skipped' AND (work.slot IS NOT NULL OR held.state <> 'open')))"
)
N_ANSWERS = f"SUM(CASE WHEN {COUNTS_AS_ANSWER} THEN 1 ELSE 0 END)"
COMPLETE = (
    f"EXISTS (SELECT 1 {WORK} AND {COUNTS_AS_ANSWER}"
    " GROUP BY held.id HAVING COUNT(*) >= held.overlap)"
)
STANDING = {
    "newest_round_id": f"(SELECT held.id {WORK} ORDER BY held.number DESC LIMIT 1)",
    "answers": (
        f"COALESCE((SELECT CASE WHEN {N_ANSWERS} < held.overlap THEN 'open'"
        " WHEN SUM(CASE WHEN work.status = 'submitted' THEN 1 ELSE 0 END) = 0 THEN 'skipped'"
        f" ELSE 'all' END {WORK} GROUP BY held.id ORDER BY held.number DESC LIMIT 1), '')"
    ),
    "is_complete": COMPLETE,
    "stage": (
        f"CASE WHEN EXISTS (SELECT 1 FROM {DECISION}"
        f" WHERE conversation_id = {STATE}.conversation_id) THEN 'decided'"
        f" WHEN EXISTS (SELECT 1 FROM {MERGE} WHERE conversation_id = {STATE}.conversation_id"
        " AND state = 'disputed') THEN 'disputed'"
        f" WHEN {COMPLETE} THEN 'labelled'"
        f" WHEN EXISTS (SELECT 1 {WORK} AND work.status <> 'pending') THEN 'begun'"
        f" WHEN EXISTS (SELECT 1 FROM {PLACE}"
        f" WHERE conversation_id = {STATE}.conversation_id) THEN 'waiting'"
        " ELSE 'unplanned' END"
    ),
}
"""Each from scratch, of one conversation: what is counted once more is not wrong forever."""

NEW_STATE = (
    f"INSERT INTO {STATE} (conversation_id, project_id,"
    " stage, answers, is_complete, difficulty, changes)"
)
STAND = f"UPDATE {STATE} SET {', '.join(f'{name} = {value}' for name, value in STANDING.items())}"
STAND_CHANGED = f"{STAND}, changes = changes + 1"
"""After what may change the answers that a merge is of; once too often only costs a comparison."""


def _stands(name: str, event: str, table: str, condition: str, of: str, only: str = "") -> Count:
    conversation = f"{of}.conversation_id"
    stand = STAND_CHANGED if table == ASSIGNMENT else STAND
    # Locks no row that stays as it is: who is handed a place has locked that before, and who
    # answers locks the row first.
    where = f"conversation_id = {conversation}{only}"
    return Count(name, event, table, condition, f"{stand} WHERE {where}", where)


def _stand_in_round(name: str, column: str, only: str = "") -> Count:
    """Of all conversations of a round; who changes it has locked it, so nobody answers in it."""
    there = (
        f"SELECT conversation_id FROM {ASSIGNMENT}"
        f" WHERE round_id = NEW.id AND purpose = 'labelling'{only}"
    )
    those = f"conversation_id IN ({there})"
    return Count(
        name,
        f"UPDATE OF {column}",
        ROUND,
        f"OLD.{column} <> NEW.{column}",
        f"{STAND_CHANGED} WHERE {those}",
        those,
    )


FREE_HERE = (
    f"UPDATE {PLACE} SET free = (SELECT overlap FROM {ROUND} WHERE id = NEW.round_id)"
    f" - ({TAKEN} AND taken.round_id = NEW.round_id"
    " AND taken.conversation_id = NEW.conversation_id) WHERE id = NEW.id"
)

COUNTS = [
    Count("count_place_new", "INSERT", PLACE, "", FREE_HERE),
    Count(
        "count_place_moved",
        "UPDATE OF round_id",
        PLACE,
        "OLD.round_id <> NEW.round_id",
        FREE_HERE,
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
        "UPDATE OF slot, round_id",
        ASSIGNMENT,
        "NEW.purpose = 'labelling' AND"
        " ((OLD.slot IS NULL) <> (NEW.slot IS NULL) OR OLD.round_id <> NEW.round_id)",
        f"UPDATE {PLACE} SET free = free"
        " + (CASE WHEN round_id = OLD.round_id AND OLD.slot IS NOT NULL THEN 1 ELSE 0 END)"
        " - (CASE WHEN round_id = NEW.round_id AND NEW.slot IS NOT NULL THEN 1 ELSE 0 END)"
        " WHERE round_id IN (OLD.round_id, NEW.round_id)"
        " AND conversation_id = NEW.conversation_id",
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
    Count("count_answer_new", "INSERT", ANNOTATION, "", ANSWER),
    Count(
        "count_answer_changed",
        "UPDATE OF status, active_seconds, updated_at",
        ANNOTATION,
        "OLD.status <> NEW.status OR NEW.status <> 'draft'",
        ANSWER,
    ),
    Count("count_answer_gone", "DELETE", ANNOTATION, "", NO_ANSWER),
    Count(
        "stand_conversation_new",
        "INSERT",
        CONVERSATION,
        "",
        f"{NEW_STATE} VALUES (NEW.id, NEW.project_id, 'unplanned', '', FALSE, NEW.difficulty, 0)",
    ),
    Count(
        "stand_conversation_changed",
        "UPDATE OF difficulty",
        CONVERSATION,
        "OLD.difficulty <> NEW.difficulty",
        f"UPDATE {STATE} SET difficulty = NEW.difficulty WHERE conversation_id = NEW.id",
    ),
    _stands("stand_placed", "INSERT", PLACE, "", "NEW", " AND stage = 'unplanned'"),
    _stands("stand_place_gone", "DELETE", PLACE, "", "OLD"),
    _stands(
        "stand_handed_out",
        "INSERT",
        ASSIGNMENT,
        "NEW.purpose = 'labelling'",
        "NEW",
        " AND COALESCE(newest_round_id, 0) <> NEW.round_id",
    ),
    _stands("stand_taken_away", "DELETE", ASSIGNMENT, "OLD.purpose = 'labelling'", "OLD"),
    _stands(
        "stand_answered",
        "UPDATE OF status, slot, round_id",
        ASSIGNMENT,
        "NEW.purpose = 'labelling' AND (OLD.status <> NEW.status OR OLD.round_id <> NEW.round_id OR"
        " (NEW.status = 'skipped' AND (OLD.slot IS NULL) <> (NEW.slot IS NULL)))",
        "NEW",
    ),
    _stand_in_round("stand_overlap", "overlap"),
    _stand_in_round("stand_round", "state", " AND status = 'skipped' AND slot IS NULL"),
    _stands("stand_merged", "INSERT", MERGE, "NEW.state = 'disputed'", "NEW"),
    _stands("stand_merged_again", "UPDATE OF state", MERGE, "OLD.state <> NEW.state", "NEW"),
    _stands("stand_merge_gone", "DELETE", MERGE, "OLD.state = 'disputed'", "OLD"),
    _stands("stand_decided", "INSERT", DECISION, "", "NEW"),
    Count(
        "stand_reviewed",
        "INSERT",
        REVIEW,
        "",
        f"UPDATE {STATE} SET changes = changes + 1 WHERE conversation_id ="
        f" (SELECT work.conversation_id FROM {ASSIGNMENT} AS work JOIN {ANNOTATION} AS answer"
        " ON answer.assignment_id = work.id WHERE answer.id = NEW.annotation_id)"
        f" AND EXISTS (SELECT 1 FROM {REVIEW} WHERE annotation_id = NEW.annotation_id"
        " AND verdict = 'fixed')",
    ),
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


def _differs(columns: dict[str, str]) -> str:
    return " OR ".join(
        f"COALESCE(CAST({name} AS VARCHAR(40)), '') <> COALESCE(CAST({value} AS VARCHAR(40)), '')"
        for name, value in columns.items()
    )


KNOWN = {
    name: f"(SELECT {value} FROM {ANNOTATION} WHERE assignment_id = {ASSIGNMENT}.id)"
    for name, value in {
        "status": "status",
        "active_seconds": "CASE WHEN status = 'submitted' THEN active_seconds END",
        "answered_at": "CASE WHEN status <> 'draft' THEN updated_at END",
    }.items()
}
KNOWN["status"] = f"COALESCE({KNOWN['status']}, 'pending')"
STANDING_RECOUNT = [
    f"UPDATE {ASSIGNMENT} SET {', '.join(f'{name} = {value}' for name, value in KNOWN.items())}"
    f" WHERE {_differs(KNOWN)}",
    f"{NEW_STATE} SELECT id, project_id, 'unplanned', '', FALSE, difficulty, 0 FROM {CONVERSATION}"
    f" WHERE NOT EXISTS (SELECT 1 FROM {STATE} WHERE conversation_id = {CONVERSATION}.id)",
    f"UPDATE {STATE} SET difficulty ="
    f" (SELECT difficulty FROM {CONVERSATION} WHERE id = {STATE}.conversation_id)"
    f" WHERE difficulty <>"
    f" (SELECT difficulty FROM {CONVERSATION} WHERE id = {STATE}.conversation_id)",
    f"{STAND} WHERE {_differs(STANDING)}",
]
"""Apart from RECOUNT, which a migration carries out that comes before these columns."""


def renew(connection: Any) -> None:
    """Write the triggers and count again, while nobody else takes a place or answers."""
    with transaction.atomic(using=connection.alias):
        _lock(connection)
        stood_still = missing(connection)
        remove(connection)
        if _is_ready(connection):  # not after a migration backwards
            install(connection)
            with connection.cursor() as cursor:
                for statement in (*RECOUNT, *STANDING_RECOUNT):
                    cursor.execute(statement)
                if stood_still:  # nobody knows how often: a worker compares all merges once
                    cursor.execute(f"UPDATE {STATE} SET changes = changes + 1")


def suspend(connection: Any) -> None:
    """Take them away until ``renew``."""
    with transaction.atomic(using=connection.alias):
        _lock(connection)
        remove(connection)


def _lock(connection: Any) -> None:
    guards.wait_for_other_migrations(connection)
    present = set(connection.introspection.table_names())
    in_order_of_work = [table for table in TABLES if table in present]
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
            hint="Run “assay migrate”, which writes all of them.",
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
    if not {*TABLES, STATE} <= tables:
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
    lock = (
        f"PERFORM 1 FROM {STATE} WHERE {count.locks} ORDER BY conversation_id FOR NO KEY UPDATE; "
        if count.locks
        else ""
    )
    return [
        f"CREATE FUNCTION {count.name}() RETURNS trigger LANGUAGE plpgsql AS $$"
        f" BEGIN {lock}{count.statement}; RETURN NULL; END $$",
        f"CREATE TRIGGER {count.name} AFTER {count.event} ON {count.table} FOR EACH ROW{when}"
        f" EXECUTE FUNCTION {count.name}()",
    ]
