"""Nobody changes gold below the ORM, and a changed byte is found."""

from __future__ import annotations

import pytest
from django.core.management import call_command
from django.db import DatabaseError, connection, transaction

from labeling.core.models import guards
from tests import factories

pytestmark = pytest.mark.postgres


def test_the_guards_survive_a_table_rebuild(project):
    """SQLite drops a table's triggers when Django alters it; migrate puts them back."""
    factories.make_release(project, items=1)
    guards.remove(connection)

    call_command("migrate", verbosity=0)

    with pytest.raises(DatabaseError, match="frozen"):
        run_sql("DELETE FROM labeling_golditem")


def run_sql(statement: str) -> None:
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(statement)
