"""The tests of this process use a copy of a migrated database: this is what it must equal."""

from __future__ import annotations

import re
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest
from django.db import connection

from config import newer_tables
from config.env import ROOT
from config.version import VERSION
from tests.databases import environment, migrate
from tests.processes import database_url

pytestmark = pytest.mark.postgres

SCHEMA_OF_POSTGRES = """
SELECT 'column', table_name, column_name,
       data_type || is_nullable || coalesce(character_maximum_length::text, '')
  FROM information_schema.columns WHERE table_schema = 'public'
UNION ALL SELECT 'index', tablename, indexname, indexdef FROM pg_indexes WHERE schemaname = 'public'
UNION ALL SELECT 'constraint', conrelid::regclass::text, conname, pg_get_constraintdef(oid)
  FROM pg_constraint WHERE connamespace = 'public'::regnamespace
UNION ALL SELECT 'trigger', tgrelid::regclass::text, tgname, pg_get_triggerdef(oid)
  FROM pg_trigger WHERE NOT tgisinternal
"""
SCHEMA_OF_SQLITE = "SELECT type, tbl_name, name, sql FROM sqlite_master"
MIGRATIONS = "SELECT app, name FROM django_migrations"


@pytest.fixture
def empty_database(db: None, tmp_path: Path) -> Iterator[str]:
    """The address of a database without tables, on the server of the test database."""
    if connection.vendor == "sqlite":
        yield database_url(str(tmp_path / "empty.sqlite3"))
        return
    name = f"{connection.settings_dict['NAME']}_empty"
    with psycopg.connect(database_url(), autocommit=True) as server:
        server.execute(f"CREATE DATABASE {name}")
        yield database_url(name)
        server.execute(f"DROP DATABASE {name}")


def test_all_migrations_run_on_an_empty_database_and_make_what_the_tests_use(
    empty_database: str,
) -> None:
    migrate(empty_database)

    _assert_as_in_use(empty_database)


NEWEST_MIGRATIONS = {
    "0.4.0": {"labeling": "0063_american_spelling", "evaluation": "0038_one_job_table"},
    "0.3.0": {"labeling": "0054_agreement_with_gold", "evaluation": "0033_run_command_until"},
    "0.2.0": {"labeling": "0054_agreement_with_gold", "evaluation": "0032_figures_by_run"},
}
"""Of each version before this one whose databases it takes over."""


def test_every_earlier_version_that_is_taken_over_is_upgraded_by_a_test() -> None:
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    versions = re.findall(r"^## (\S+) – \d{4}-\d\d-\d\d$", changelog, re.M)

    assert versions[0] == VERSION
    assert versions[1 : versions.index(newer_tables.OLDEST) + 1] == [*NEWEST_MIGRATIONS]


@pytest.mark.slow
@pytest.mark.parametrize("state", NEWEST_MIGRATIONS.values(), ids=str)
def test_a_database_of_an_earlier_version_ends_with_the_same_tables_as_a_new_one(
    empty_database: str, state: dict[str, str]
) -> None:
    _migrate_to(empty_database, state)
    migrate(empty_database)

    _assert_as_in_use(empty_database)


BEFORE = """
from django.db import connection, transaction
from labeling.domain.exchange.importing import Turn
from labeling.domain.transcripts import written

said = [Turn("user", "Where is my parcel with the green lamp, please?"),
        Turn("analyst", "It is in a van and comes to your house on Monday at noon.")]
columns = ("domain, difficulty, split, origin, generator, speakers, priority, n_messages,"
           " content_sha256, imported_at")
values = "'', '', '', 'collected', '', '[]', 0, 2, '', '2026-01-01'"
with transaction.atomic(), connection.cursor() as cursor:
    cursor.execute(
        "INSERT INTO labeling_conversationdraft (first, last, slug, project_id, state, alive_at)"
        " VALUES (7, 9, 'killed', 5, 'inserting', '2026-01-01')"
    )
    for pk, project in ((3, PROJECT), (7, 5), (8, 5)):
        cursor.execute(
            f"INSERT INTO labeling_conversation (id, project_id, external_id, {columns})"
            f" VALUES ({pk}, {project}, 'c-{pk}', {values})"
        )
        cursor.execute("INSERT INTO labeling_transcript VALUES (%s, %s)", [pk, written(said)])
    cursor.execute("INSERT INTO labeling_conversationfingerprint VALUES (7, %s)", [b""])
    cursor.execute("INSERT INTO labeling_fingerprintkey (value, conversation_id) VALUES (1, 7)")
"""
PROJECT = """
from django.apps import apps
from django.db.migrations.loader import MigrationLoader
from django.db import connection

state = MigrationLoader(connection).project_state(("labeling", "0054_agreement_with_gold"))
PROJECT = state.apps.get_model("labeling", "Project").objects.create(slug="shop", name="Shop").pk
"""


@pytest.mark.slow
def test_what_a_killed_import_left_goes_and_fingerprints_are_completed(
    empty_database: str,
) -> None:
    _migrate_to(empty_database, NEWEST_MIGRATIONS["0.3.0"])
    _run_on(empty_database, PROJECT + BEFORE)
    migrate(empty_database)

    conversations = _rows(empty_database, "SELECT external_id FROM labeling_conversation")
    assert [*conversations] == [("c-3",)]
    assert [*_rows(empty_database, "SELECT conversation_id FROM labeling_transcript")] == [(3,)]
    keys = _rows(
        empty_database,
        "SELECT conversation_id, COUNT(*) FROM labeling_fingerprintkey GROUP BY conversation_id",
    )
    assert [*keys] == [(3, 8)]


def test_a_database_that_is_too_old_is_refused_with_the_way_to_go(
    empty_database: str, tmp_path: Path
) -> None:
    _run_on(
        empty_database,
        """
from django.db import connection
from django.db.migrations.recorder import MigrationRecorder

MigrationRecorder(connection).record_applied("labeling", "0001_initial")
""",
    )
    with pytest.raises(RuntimeError, match=r"install Assay 0\.2\.0, run assay migrate"):
        migrate(empty_database)


def _migrate_to(address: str, state: dict[str, str]) -> None:
    _run_on(
        address,
        f"""
from django.db import connection
from django.db.migrations.executor import MigrationExecutor

MigrationExecutor(connection).migrate({list(state.items())!r})
""",
    )


def _run_on(address: str, code: str) -> None:
    subprocess.run(
        [sys.executable, "-c", f"import django\ndjango.setup()\n{code}"],
        cwd=ROOT,
        env=environment(address) | {"DJANGO_SETTINGS_MODULE": "config.settings"},
        check=True,
    )


def _assert_as_in_use(address: str) -> None:
    with connection.cursor() as cursor:
        for query in (MIGRATIONS, _schema_query()):
            cursor.execute(query)
            in_use = {tuple(map(_in_any_order, row)) for row in cursor.fetchall()}
            migrated = {tuple(map(_in_any_order, row)) for row in _rows(address, query)}
            assert in_use == migrated


def _in_any_order(value: Any) -> Any:
    """A definition: columns that were added later come last, and mean the same."""
    if not isinstance(value, str) or not value.startswith("CREATE"):
        return value
    return tuple(sorted(re.split(r",\s*|\s*[()]\s*|\s+(?=CONSTRAINT)", value)))


def _schema_query() -> str:
    return SCHEMA_OF_SQLITE if connection.vendor == "sqlite" else SCHEMA_OF_POSTGRES


def _rows(address: str, query: str) -> list[Any]:
    if connection.vendor == "sqlite":
        with sqlite3.connect(address.removeprefix("sqlite:///")) as file:
            return file.execute(query).fetchall()
    with psycopg.connect(address) as server:
        return server.execute(query).fetchall()
