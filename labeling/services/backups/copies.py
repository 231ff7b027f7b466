"""Copies of a database as it is at one moment, while others write, and a database from a copy."""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import IO, Any, NamedTuple
from urllib.parse import quote

from django.db import connection, connections
from psycopg.pq import Conninfo

from labeling.services.backups.archives import DRAFT, PIECE, BackupRefused

MEMBER = {"sqlite": "database.sqlite3", "postgresql": "database.dump"}
LOCK_SECONDS = 10
SECONDS_TO_SAY_WHY = 3


class Copy(NamedTuple):
    """What was copied: rows of each table and migrations, as of the same moment."""

    content: IO[bytes]
    compressed: bool
    server: str
    counts: dict[str, int]
    migrations: list[str]


@contextmanager
def copied(beside: Path) -> Iterator[Copy]:
    """``beside`` is a folder with room for a copy, which SQLite needs for a while."""
    vendor = {"sqlite": _copied_sqlite, "postgresql": _copied_postgresql}[connection.vendor]
    with vendor(beside) as copy:
        yield copy


def restore(content: IO[bytes]) -> None:
    """Put the copy in the place of all that the database holds: as a whole, or not at all."""
    connections.close_all()
    if connection.vendor == "sqlite":
        _restore_sqlite(content)
    else:
        _restore_postgresql(content)


def count(cursor: Any) -> dict[str, int]:
    """The rows of each table, but for those in which SQLite keeps what it knows of the others."""
    counts = {}
    for table in sorted(connection.introspection.table_names(cursor)):
        if table.startswith("sqlite_"):
            continue
        cursor.execute(f"SELECT COUNT(*) FROM {connection.ops.quote_name(table)}")
        counts[table] = int(cursor.fetchone()[0])
    return counts


# --- SQLite -----------------------------------------------------------------------------------


@contextmanager
def _copied_sqlite(beside: Path) -> Iterator[Copy]:
    database = str(connection.settings_dict["NAME"])
    with (
        tempfile.NamedTemporaryFile(dir=beside, prefix=DRAFT) as file,
        closing(sqlite3.connect(f"file:{quote(database)}?mode=ro", uri=True)) as source,
        closing(sqlite3.connect(file.name)) as copy,
    ):
        copy.execute("PRAGMA journal_mode = OFF")  # half of a copy is of no use to anybody
        source.backup(copy)  # in one step: others go on writing into the log meanwhile
        copy.execute("PRAGMA journal_mode = DELETE")
        _require_whole(copy)
        counts = count(copy.cursor())
        rows = copy.execute("SELECT app, name FROM django_migrations")
        migrations = sorted(f"{app}.{name}" for app, name in rows)
        with open(file.name, "rb") as content:
            yield Copy(content, False, sqlite3.sqlite_version, counts, migrations)


def _restore_sqlite(content: IO[bytes]) -> None:
    """By way of a file next to it: a folder for temporary files may be in memory."""
    database = str(connection.settings_dict["NAME"])
    folder = Path(database).parent
    with tempfile.NamedTemporaryFile(dir=folder, prefix=".restore-") as file:
        shutil.copyfileobj(content, file, PIECE)
        file.flush()
        with closing(sqlite3.connect(file.name)) as copy:
            _require_whole(copy)
            Path(database).touch(mode=0o600)
            with closing(sqlite3.connect(database)) as target:
                copy.backup(target)


def _require_whole(database: sqlite3.Connection) -> None:
    (says,) = database.execute("PRAGMA quick_check(1)").fetchone()
    if says != "ok":
        raise BackupRefused("backup.broken_database", says=str(says)[:500])


# --- PostgreSQL ---------------------------------------------------------------------------------


@contextmanager
def _copied_postgresql(_: Path) -> Iterator[Copy]:
    program = _program("pg_dump")
    own = connection.copy()  # whose transaction is the snapshot of pg_dump, too
    try:
        own.set_autocommit(False)
        with own.cursor() as cursor:
            cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
            cursor.execute("SELECT pg_export_snapshot(), current_setting('server_version')")
            snapshot, server = cursor.fetchone()
            counts = count(cursor)
            cursor.execute("SELECT app, name FROM django_migrations")
            migrations = sorted(f"{app}.{name}" for app, name in cursor.fetchall())
        options = ["--format=custom", "--compress=1", "--no-owner", "--no-privileges"]
        command = [program, *options, f"--snapshot={snapshot}"]
        with tempfile.TemporaryFile() as errors:
            with subprocess.Popen(
                command, env=_environment(), stdout=subprocess.PIPE, stderr=errors
            ) as dump:
                assert dump.stdout is not None
                try:
                    yield Copy(dump.stdout, True, server, counts, migrations)
                except BaseException:
                    dump.kill()
                    raise
            _require_success(dump, errors)
    finally:
        own.close()


def _restore_postgresql(content: IO[bytes]) -> None:
    """In one transaction: what is there goes, what the backup holds comes, or nothing changes."""
    psql = [_program("psql"), "--no-psqlrc", "--quiet", "--single-transaction", "--file=-"]
    restore = [_program("pg_restore"), "--no-owner", "--no-privileges", "--file=-"]
    remove = _removing()
    with tempfile.TemporaryFile() as errors, tempfile.TemporaryFile() as unpacking_errors:
        with subprocess.Popen(
            [*psql, "--set=ON_ERROR_STOP=1"],
            env=_environment(),
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=errors,
            bufsize=0,
        ) as session:
            assert session.stdin is not None
            try:
                session.stdin.write(remove.encode())
                is_sent = _send(restore, content, session.stdin, unpacking_errors)
            except BrokenPipeError:  # psql has ended, and says why
                is_sent = False
            except BaseException:
                session.kill()
                raise
            if not is_sent:
                _end(session)
        _require_success(session, errors, unpacking_errors)


def _send(command: list[str], content: IO[bytes], to: IO[bytes], errors: IO[bytes]) -> bool:
    """Whether all of it was sent."""
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=to, stderr=errors, bufsize=0
    ) as unpacking:
        assert unpacking.stdin is not None
        try:
            shutil.copyfileobj(content, unpacking.stdin, PIECE)
        except BaseException:
            unpacking.kill()
            raise
    return unpacking.returncode == 0


def _end(session: subprocess.Popen[bytes]) -> None:
    """At the end of what it reads psql would commit what it has got."""
    try:
        session.wait(SECONDS_TO_SAY_WHY)
    except subprocess.TimeoutExpired:
        session.kill()


def _removing() -> str:
    """Statements that remove what the schema holds, apart from what extensions brought along."""
    kinds = """
      SELECT format('DROP TABLE IF EXISTS %I CASCADE;', relname) FROM pg_class
      WHERE relnamespace = current_schema()::regnamespace AND relkind IN ('r', 'p')
      UNION ALL
      SELECT format('DROP FUNCTION IF EXISTS %s CASCADE;', oid::regprocedure) FROM pg_proc
      WHERE pronamespace = current_schema()::regnamespace AND prokind = 'f'
        AND NOT EXISTS (SELECT FROM pg_depend WHERE objid = pg_proc.oid AND deptype = 'e')
    """
    with connection.cursor() as cursor:
        cursor.execute(kinds)
        statements = [row[0] for row in cursor.fetchall()]
    connections.close_all()
    return "\n".join([f"SET lock_timeout = '{LOCK_SECONDS}s';", *statements, ""])


def _environment() -> dict[str, str]:
    """The database of the settings as PostgreSQL's programs are told it: not by arguments, which
    other accounts of the machine can read."""
    wanted = connection.get_connection_params()
    variables = {
        option.keyword.decode(): option.envvar.decode()
        for option in Conninfo.get_defaults()
        if option.envvar
    }
    ours = {variables[name]: str(wanted[name]) for name in wanted if name in variables}
    return {**os.environ, **ours}


def _program(name: str) -> str:
    path = shutil.which(name)
    if path is None:
        with connection.cursor() as cursor:
            cursor.execute("SELECT current_setting('server_version')")
            server = str(cursor.fetchone()[0]).partition(".")[0]
        raise BackupRefused("backup.no_program", program=name, server=server)
    return path


def _require_success(process: subprocess.Popen[bytes], *errors: IO[bytes]) -> None:
    if process.returncode == 0:
        return
    says = []
    for file in errors:
        file.seek(0)
        says.append(file.read(PIECE).decode(errors="replace").strip())
    text = next(filter(None, says), f"exit status {process.returncode}")[-600:]
    program = Path(str(process.args[0])).name  # type: ignore[index]
    raise BackupRefused("backup.program_failed", program=program, says=text)
