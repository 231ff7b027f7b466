"""Nobody changes gold below the ORM, and a changed byte is found."""

from __future__ import annotations

import pytest
from django.core.management import CommandError, call_command
from django.db import DatabaseError, connection, transaction

from labeling.models import GoldRelease, Project, guards
from labeling.services.gold.verification import verify
from tests import factories


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
        (
            "UPDATE labeling_transcript SET messages = REPLACE(messages, 'order 3', 'order 4')",
            "not the one that was",
        ),
        ("UPDATE labeling_goldrelease SET header = '{}'", "its statement is gone"),
        ("UPDATE labeling_goldrelease SET message = 'x'", "“message” is not what the release"),
    ],
)
def test_a_changed_byte_makes_verify_exit_1_and_name_the_item(
    project: Project, capsys: pytest.CaptureFixture[str], statement: str, message: str
) -> None:
    release = factories.make_release(project)
    guards.remove(connection)  # somebody with full power over the database
    run_sql(statement)

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
