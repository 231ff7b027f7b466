"""The tests of this process use a copy of a migrated database: this is what it must equal."""

from __future__ import annotations

import gzip
import re
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
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
SCHEMA_OF_SQLITE = (
    "SELECT type, tbl_name, name, sql FROM sqlite_master WHERE name <> 'sqlite_stat1'"
)
OLD_NAMES = {
    "labeling_lintreport_found_not_null": "labeling_lintreport_findings_not_null",
    "evaluation_rating_judge_id_03371961": "evaluation_rating_rater_id_1dc9eb4e",
    "evaluation_rating_judge_id_not_null": "evaluation_rating_rater_id_not_null",
    "trialconv_conversation_id_caed48d2": "runconver_conversation_id_fada77c2",
    "trialconversation_conversation_id_caed48d2": "runconversation_conversation_id_fada77c2",
    "trialconversation": "runconversation",
}
"""What a column or a table keeps that was renamed on PostgreSQL."""
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


NEWEST_MIGRATIONS = {
    "0.7.0": {
        "labeling": "0013_verified_when_asked",
        "evaluation": "0046_spending_is_a_sum",
    },
    "0.6.0": {
        "labeling": "0006_membership_as_it_counts",
        "evaluation": "0041_plain_words_and_views",
    },
}
"""Of each version before this one whose databases it takes over."""
UNCHANGED = ("0.8.0",)
"""Versions without a migration: their tables are those of the version before."""


def test_every_earlier_version_that_is_taken_over_is_upgraded_by_a_test() -> None:
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    versions = re.findall(r"^## (\S+) – \d{4}-\d\d-\d\d$", changelog, re.M)

    assert versions[0] == VERSION
    earlier = versions[1 : versions.index(newer_tables.OLDEST) + 1]
    assert [version for version in earlier if version not in UNCHANGED] == [*NEWEST_MIGRATIONS]


UPGRADED = """
import django
django.setup()
from django.core.management import call_command
from tests.project import held_by_0_6_0 as held
held.write()
call_command("migrate", verbosity=0)
held.check()
"""


@pytest.mark.parametrize("version", NEWEST_MIGRATIONS)
def test_a_database_of_an_earlier_version_has_the_tables_of_a_new_one_and_what_it_held(
    empty_database, version
):
    load(empty_database, version)
    stored = {(row[0], row[1]) for row in _rows(empty_database, MIGRATIONS)}
    assert stored.issuperset(NEWEST_MIGRATIONS[version].items())

    if version == "0.6.0":
        settings = {"DJANGO_SETTINGS_MODULE": "config.settings"}
        command = [sys.executable, "-c", UPGRADED]
        subprocess.run(command, cwd=ROOT, env=environment(empty_database) | settings, check=True)
    else:
        migrate(empty_database)

    _assert_as_in_use(empty_database)


def load(address: str, version: str) -> None:
    """The tables of a new database of this version, as ``pg_dump`` and SQLite wrote them."""
    path = ROOT / "tests/project/databases" / f"{version}.{connection.vendor}.sql.gz"
    script = gzip.decompress(path.read_bytes()).decode()
    with _connected(address) as database:
        if connection.vendor == "sqlite":
            database.executescript(script)
        else:
            database.execute(script)


@contextmanager
def _connected(address: str) -> Iterator[Any]:
    if connection.vendor == "sqlite":
        with closing(sqlite3.connect(address.removeprefix("sqlite:///"))) as database, database:
            yield database
    else:
        with psycopg.connect(address) as database:
            yield database


def test_a_database_that_is_too_old_is_refused_with_the_way_to_go(empty_database):
    load(empty_database, newer_tables.OLDEST)
    with _connected(empty_database) as database:
        database.execute("DELETE FROM django_migrations WHERE name LIKE '0041%'")

    with pytest.raises(RuntimeError, match=r"install Assay 0\.6\.0, run assay migrate"):
        migrate(empty_database)


def _assert_as_in_use(address: str) -> None:
    with connection.cursor() as cursor:
        for query in (MIGRATIONS, _schema_query()):
            cursor.execute(query)
            in_use = {tuple(map(_in_any_order, row)) for row in cursor.fetchall()}
            migrated = {tuple(map(_in_any_order, row)) for row in _rows(address, query)}
            assert in_use == migrated


def _in_any_order(value: Any) -> Any:
    """A definition: columns that were added later come last, and mean the same."""
    if not isinstance(value, str):
        return value
    for old, new in OLD_NAMES.items():
        value = value.replace(old, new)
    if not value.startswith("CREATE"):
        return value
    return tuple(sorted(re.split(r",\s*|\s*[()]\s*|\s+(?=CONSTRAINT)", value)))


def _schema_query() -> str:
    return SCHEMA_OF_SQLITE if connection.vendor == "sqlite" else SCHEMA_OF_POSTGRES


def _rows(address: str, query: str) -> list[Any]:
    with _connected(address) as database:
        return database.execute(query).fetchall()
