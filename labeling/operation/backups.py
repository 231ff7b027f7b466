"""The whole database and the keys in one file, and back: proved to be what was backed up.

The file is a zip that nobody else reads. It is written next to its place and gets its name when it
has been read back: a file with the name of a backup is a whole one.
"""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import subprocess
import tempfile
import time
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote

from django.conf import settings
from django.contrib.auth.models import User
from django.core.management import call_command
from django.db import connection, connections
from django.db.migrations.recorder import MigrationRecorder
from psycopg.pq import Conninfo

from config import newer_tables
from config.env import env_secret
from config.version import VERSION
from labeling.core.models import guards
from labeling.gold import signing, verification
from labeling.models import GoldRelease, Project

FORMAT = 2
MANIFEST = "manifest.json"
MEMBER = {"sqlite": "database.sqlite3", "postgresql": "database.dump"}
NAME, NAMES = "assay-{at:%Y%m%d-%H%M%S}.zip", "assay-????????-??????.zip"
DRAFT = ".assay-backup-"
"""How names of files begin that are not a backup yet."""
LOCK_SECONDS = 10


class BackupRefused(Exception):
    """It cannot be made, or nothing can be restored from it; says why."""


class Finding(NamedTuple):
    part: str
    is_fine: bool
    says: str


Findings = Iterator[Finding]


# --- backup -------------------------------------------------------------------------------------


def take(place: Path) -> Path:
    """A backup in this file, or in a new file of this folder."""
    migrations = MigrationRecorder(connection).applied_migrations()
    if not migrations:
        raise BackupRefused("There is nothing to back up: the database has no tables yet.")
    at = datetime.now(UTC)
    path = place / NAME.format(at=at) if place.is_dir() else place
    if path.exists():
        raise BackupRefused(f"{path} is there already: name another file.")
    manifest = {
        "format": FORMAT,
        "assay": VERSION,
        "made_at": at.isoformat(timespec="seconds"),
        "vendor": connection.vendor,
        "migrations": sorted(f"{app}.{name}" for app, name in migrations),
        "gold_key": signing.fingerprint(),
    }
    with tempfile.TemporaryDirectory(dir=path.parent, prefix=DRAFT) as folder:
        copy, draft = Path(folder, "copy"), Path(folder, "draft")
        _copy(str(copy))
        draft.touch(mode=0o600)
        with zipfile.ZipFile(draft, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
            archive.write(copy, MEMBER[connection.vendor])
            archive.writestr("secret_key", settings.SECRET_KEY)
            archive.writestr("gold_key", settings.GOLD_KEY)
            archive.writestr(MANIFEST, json.dumps(manifest, indent=1))
        with draft.open("rb") as file:
            os.fsync(file.fileno())
        with opened(draft):
            draft.rename(path)
    return path


def keep_newest(folder: Path, number: int) -> list[Path]:
    """Delete older backups of the folder, by the names that :func:`take` gives; which went?"""
    old = sorted(folder.glob(NAMES), reverse=True)[number:]
    for path in old:
        path.unlink()
    return old


def _copy(to: str) -> None:
    """The database as it is at one moment, by its own tool; others go on writing."""
    if connection.vendor == "postgresql":
        options = ("--format=custom", "--compress=1", "--no-owner", "--no-privileges")
        _run("pg_dump", *options, f"--file={to}")
        return
    database = str(connection.settings_dict["NAME"])
    with closing(sqlite3.connect(f"file:{quote(database)}?mode=ro", uri=True)) as source:
        source.execute("VACUUM INTO ?", [to])
    with closing(sqlite3.connect(to)) as copy:
        _require_whole(copy)


# --- restore ------------------------------------------------------------------------------------


class Archive(NamedTuple):
    zip: zipfile.ZipFile
    manifest: dict[str, Any]


@contextmanager
def opened(path: Path) -> Iterator[Archive]:
    """An archive that is whole and that this version can read into this database."""
    try:
        archive = zipfile.ZipFile(path)
        manifest = json.loads(archive.read(MANIFEST))
        _require_readable(manifest)
        damaged = archive.testzip()
    except (OSError, zipfile.BadZipFile, zlib.error, LookupError, TypeError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise BackupRefused(f"{path} is not a backup that can be read ({reason}).") from None
    with archive:
        if damaged:
            raise BackupRefused(f"The backup is damaged: {damaged} is not what was written.")
        yield Archive(archive, manifest)


def _require_readable(manifest: dict[str, Any]) -> None:
    version, vendor = manifest["assay"], manifest["vendor"]
    if manifest["format"] != FORMAT:
        raise BackupRefused(
            f"The backup has format {manifest['format']}, which this version does not know."
        )
    if vendor != connection.vendor:
        raise BackupRefused(
            f"The backup is of {vendor}, the database of DATABASE_URL is {connection.vendor}: "
            f"restore it into {vendor}."
        )
    if unknown := newer_tables.unknown_migrations(manifest["migrations"]):
        raise BackupRefused(
            f"The backup was made by version {version}, which has the migration {unknown[0]}; "
            f"this is version {VERSION}: install that version first."
        )
    if newer_tables.is_too_old(manifest["migrations"]):
        raise BackupRefused(
            f"The backup was made by version {version}, which version {VERSION} does not read: "
            f"restore it with version {newer_tables.OLDEST}, run assay migrate there, and back it "
            "up again."
        )


def require_empty() -> None:
    tables = connection.introspection.table_names()
    if "labeling_project" in tables and (Project.objects.exists() or User.objects.exists()):
        raise BackupRefused(
            "The database is not empty. Name an empty database in DATABASE_URL, or give up what "
            "it holds by --replace."
        )


def restore(archive: Archive) -> Findings:
    """What became of each part. The database is there as a whole, or as it was before."""
    manifest = archive.manifest
    with tempfile.NamedTemporaryFile(dir=settings.DATA_DIR, prefix=".restore-") as copy:
        with archive.zip.open(MEMBER[connection.vendor]) as content:
            shutil.copyfileobj(content, copy)
        copy.flush()
        replace(copy.name)
    yield _key("secret_key", archive, "people have to sign in again")
    yield _key("gold_key", archive, f"name {manifest['gold_key']} in ASSAY_GOLD_TRUSTED_KEYS")
    call_command("migrate", verbosity=0, interactive=False)
    new = len(MigrationRecorder(connection).applied_migrations()) - len(manifest["migrations"])
    yield Finding("migrations", True, f"{new} were new to the backup")
    lost = guards.missing(connection, guards.GUARDS)
    yield Finding("guards", not lost, f"missing: {', '.join(lost)}" if lost else "all are there")
    yield from verify()


def replace(copy: str) -> None:
    """Put it in the place of all that the database holds: as a whole, or not at all."""
    connections.close_all()
    if connection.vendor == "sqlite":
        database = str(connection.settings_dict["NAME"])
        Path(database).touch(mode=0o600)
        with closing(sqlite3.connect(copy)) as source, closing(sqlite3.connect(database)) as target:
            _require_whole(source)
            source.backup(target)
        return
    with tempfile.NamedTemporaryFile(dir=settings.DATA_DIR, prefix=".restore-") as script:
        _run("pg_restore", "--no-owner", "--no-privileges", f"--file={script.name}", copy)
        one = ["--no-psqlrc", "--quiet", "--single-transaction", "--set=ON_ERROR_STOP=1"]
        _run("psql", *one, f"--command={_removing()}", f"--file={script.name}")


def verify() -> Findings:
    """Rows against the audit log, and every release by what the keys here have signed."""
    for project in Project.objects.order_by("pk"):
        n_faults = sum(1 for _ in verification.faults_of_project(project))
        says = f"{project.slug} has faults: {n_faults}; assay verify names them"
        yield Finding("audit log", not n_faults, says if n_faults else f"{project.slug} is intact")
    for release in GoldRelease.objects.order_by("pk"):
        n_faults = sum(1 for _ in verification.faults_of(release))
        says = f"has faults: {n_faults}; assay verify names them"
        whole = f"is intact, {release.items.count()} items"
        yield Finding("gold", not n_faults, f"{release} {says if n_faults else whole}")


def _key(name: str, archive: Archive, if_other: str) -> Finding:
    """One of the data folder is replaced and kept; one of the settings stays and is named."""
    setting, key = name.upper(), archive.zip.read(name).decode()
    if key == getattr(settings, setting):
        return Finding(name, True, "the same as here")
    if env_secret(f"ASSAY_{setting}"):
        known = name == "secret_key" or archive.manifest["gold_key"] in signing.trusted()
        return Finding(name, known, f"ASSAY_{setting} stays, and is another one: {if_other}")
    path = settings.DATA_DIR / name
    kept = path.with_name(f"{name}.{time.time_ns() // 1_000_000}")
    if path.exists():
        os.link(path, kept)
    draft = path.with_name(f"{name}.{os.getpid()}")
    draft.touch(mode=0o600)
    draft.write_text(key)
    draft.replace(path)
    setattr(settings, setting, key)
    return Finding(name, True, f"that of the backup; what was there is kept as {kept.name}")


# --- the tools of the databases -----------------------------------------------------------------


def _require_whole(database: sqlite3.Connection) -> None:
    (says,) = database.execute("PRAGMA quick_check(1)").fetchone()
    if says != "ok":
        raise BackupRefused(f"The database file itself is damaged: {str(says)[:500]}")


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
    return "\n".join([f"SET lock_timeout = '{LOCK_SECONDS}s';", *statements])


def _run(program: str, *options: str) -> None:
    """One of PostgreSQL's. What it has to know of the database is not in its arguments, which
    other accounts of the machine can read.
    """
    path = shutil.which(program)
    if path is None:
        raise BackupRefused(
            f"{program} is not installed: install the client programs of PostgreSQL, of the "
            "server's version or newer (Debian, Ubuntu: apt-get install postgresql-client)."
        )
    wanted = connection.get_connection_params()
    variables = {
        each.keyword.decode(): each.envvar.decode()
        for each in Conninfo.get_defaults()
        if each.envvar
    }
    ours = {variables[name]: str(wanted[name]) for name in wanted if name in variables}
    done = subprocess.run(
        [path, *options], env={**os.environ, **ours}, capture_output=True, text=True, check=False
    )
    if done.returncode:
        says = done.stderr.strip()[-600:] or f"exit status {done.returncode}"
        raise BackupRefused(f"{program} failed, and nothing was changed: {says}")
