"""The tests of this process use a copy of a migrated database: this is what it must equal."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest
from django.db import connection

from tests.databases import migrate
from tests.processes import database_url

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

    with connection.cursor() as cursor:
        for query in (MIGRATIONS, _schema_query()):
            cursor.execute(query)
            in_use = {tuple(row) for row in cursor.fetchall()}
            migrated = {tuple(row) for row in _rows(empty_database, query)}
            assert in_use == migrated


def _schema_query() -> str:
    return SCHEMA_OF_SQLITE if connection.vendor == "sqlite" else SCHEMA_OF_POSTGRES


def _rows(address: str, query: str) -> list[Any]:
    if connection.vendor == "sqlite":
        with sqlite3.connect(address.removeprefix("sqlite:///")) as file:
            return file.execute(query).fetchall()
    with psycopg.connect(address) as server:
        return server.execute(query).fetchall()
