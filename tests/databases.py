"""A migrated database that each test process copies: running all migrations takes seconds.

The copy has what the migrations made; the steps after every ``migrate`` (permissions, guards) run
on it again. ``tests/project/test_migrations.py`` holds databases that were upgraded against it.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psycopg

from config.env import ROOT
from tests.processes import database_url

PREFIX = "assay_test_template_"


def use_template(connection: Any, cache: Path, own: Path) -> None:
    """The test database of this process becomes a copy; SQLite's is the file ``own``."""
    if connection.vendor == "sqlite":
        copy_sqlite(cache, own)
    else:
        with _one_process_at_a_time(cache):
            connection.settings_dict["TEST"]["TEMPLATE"] = _postgres_template()
    connection.settings_dict["TEST"]["MIGRATE"] = False


def copy_sqlite(cache: Path, own: Path) -> None:
    with _one_process_at_a_time(cache):
        shutil.copyfile(_sqlite_template(cache), own)


def _sqlite_template(cache: Path) -> Path:
    template = cache / f"{_name()}.sqlite3"
    if not template.exists():
        for outdated in cache.glob(f"{PREFIX}*"):
            outdated.unlink()
        unfinished = cache / "unfinished.sqlite3"
        unfinished.unlink(missing_ok=True)
        migrate(f"sqlite:///{unfinished}")
        unfinished.rename(template)
    return template


def _postgres_template() -> str:
    name, unfinished = _name(), f"{PREFIX}unfinished"
    with psycopg.connect(database_url(), autocommit=True) as server:
        known = server.execute("SELECT 1 FROM pg_database WHERE datname = %s", [name])
        if known.fetchone() is None:
            server.execute(f"DROP DATABASE IF EXISTS {unfinished}")
            server.execute(f"CREATE DATABASE {unfinished}")
            migrate(database_url(unfinished))
            server.execute(f"ALTER DATABASE {unfinished} RENAME TO {name}")
    return name


def migrate(address: str) -> None:
    """All migrations, by the command that an installation runs."""
    command = [sys.executable, "manage.py", "migrate", "--verbosity", "0"]
    done = subprocess.run(
        command, cwd=ROOT, env=environment(address), capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        raise RuntimeError(f"The migrations failed on {address}:\n{done.stdout}{done.stderr}")


def environment(address: str) -> dict[str, str]:
    return {**os.environ, "DATABASE_URL": address}


def _name() -> str:
    """Another one after every change of what the migrations do."""
    content = hashlib.sha256((ROOT / "requirements.lock").read_bytes())
    for path in sorted(ROOT.glob("*/migrations/*.py")):
        content.update(path.name.encode() + path.read_bytes())
    return f"{PREFIX}{content.hexdigest()[:12]}"


@contextmanager
def _one_process_at_a_time(folder: Path) -> Iterator[None]:
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
