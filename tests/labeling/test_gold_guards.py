"""Nobody changes gold below the ORM, and a changed byte is found."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.db import DatabaseError, connection, transaction

from labeling.models import GoldRelease, Project, guards
from labeling.services.gold.verification import verify
from labeling.services.settling import adjudications
from tests import factories

FROZEN = {
    "labeling_golditem": "item_id",
    "labeling_goldrelease": "message",
    "labeling_annotationrevision": "kind",
    "labeling_event": "verb",
    "labeling_guideline": "body",
    "labeling_adjudication": "reason",
}


@pytest.mark.parametrize("table", FROZEN)
@pytest.mark.parametrize("verb", ["UPDATE", "DELETE"])
def test_the_database_itself_refuses_to_change_what_is_frozen(
    project: Project, rita: User, table: str, verb: str
) -> None:
    release = factories.make_release(project)
    adjudications.decide(
        conversation=release.items.all()[0].conversation,
        layer="extraction",
        payload=factories.labels([0]),
        reason="Checked",
        by=rita,
    )
    change = f"SET {FROZEN[table]} = 'x'" if verb == "UPDATE" else ""
    statement = f"{verb} {table} {change}" if change else f"DELETE FROM {table}"

    with pytest.raises(DatabaseError, match=r"frozen|append-only|never changes"):
        run_sql(statement)
    assert row_count(table) > 0


def test_a_submitted_annotation_and_a_message_cannot_be_changed_in_sql(project: Project) -> None:
    factories.make_release(project, items=1)

    with pytest.raises(DatabaseError, match="A submitted annotation never changes"):
        run_sql("UPDATE labeling_annotation SET empty = NOT empty")
    with pytest.raises(DatabaseError, match="The text of a conversation never changes"):
        run_sql("UPDATE labeling_message SET content = 'x'")


@pytest.mark.skipif(connection.vendor != "postgresql", reason="only PostgreSQL has TRUNCATE")
def test_truncate_is_refused_too(db: None) -> None:
    with pytest.raises(DatabaseError, match="frozen"):
        run_sql("TRUNCATE labeling_golditem CASCADE")


def test_an_intact_release_verifies(project: Project, capsys: pytest.CaptureFixture[str]) -> None:
    release = factories.make_release(project)

    call_command("verify_gold", "orders@1")

    assert capsys.readouterr().out == f"orders@1 is intact: 3 items, sha256 {release.sha256}\n"


@pytest.mark.parametrize(
    ("statement", "message"),
    [
        (
            "UPDATE labeling_golditem SET canonical = REPLACE(canonical, 'must', 'could')"
            " WHERE position = 1",
            "The content does not match its hash",
        ),
        (
            "UPDATE labeling_golditem SET split = 'test' WHERE position = 1",
            "columns do not match",
        ),
        (
            "DELETE FROM labeling_golditem WHERE position = 1",
            "do not lead to the root of the statement",
        ),
        ("UPDATE labeling_message SET content = 'x' WHERE index = 3", "not the one that was"),
        ("UPDATE labeling_goldrelease SET header = '{}'", "its statement is gone"),
        ("UPDATE labeling_goldrelease SET message = 'x'", "“message” is not what the release"),
    ],
)
def test_a_changed_byte_makes_verify_exit_1_and_name_the_item(
    project: Project, capsys: pytest.CaptureFixture[str], statement: str, message: str
) -> None:
    release = factories.make_release(project)
    guards.remove(connection)  # somebody with full power over the database
    run_sql(statement.replace("index =", '"index" ='))

    with pytest.raises(CommandError, match="is not intact"):
        call_command("verify_gold", str(release))

    errors = capsys.readouterr().err
    assert message in errors
    if "position = 1" in statement and "DELETE" not in statement:
        assert "orders@1 c-002:" in errors
    assert verify(GoldRelease.objects.get())


def test_the_guards_survive_a_table_rebuild(project: Project) -> None:
    """SQLite drops a table's triggers when Django alters it; migrate puts them back."""
    factories.make_release(project, items=1)
    guards.remove(connection)

    call_command("migrate", verbosity=0)

    with pytest.raises(DatabaseError, match="frozen"):
        run_sql("DELETE FROM labeling_golditem")


def run_sql(statement: str) -> None:
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(statement)


def row_count(table: str) -> int:
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT COUNT(*) FROM {table}")
        return int(cursor.fetchone()[0])
