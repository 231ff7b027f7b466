"""A database out of a backup, proved to be what was backed up."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from typing import NamedTuple

from django.conf import settings
from django.core.management import call_command
from django.db import connection

from config import newer_tables
from config.env import env_secret
from config.version import VERSION
from labeling.domain.facts import Fact
from labeling.models import GoldRelease, guards
from labeling.services import audit_chain
from labeling.services.backups import copies
from labeling.services.backups.archives import Archive, BackupRefused, Manifest
from labeling.services.gold import signing, verification

OF_EVERY_DATABASE = {
    "auth_permission",
    "django_content_type",
    "django_migrations",
    "labeling_workerpulse",
}
"""Tables that have rows before anybody has worked."""

SHOWN = 5


class Finding(NamedTuple):
    part: str
    is_fine: bool
    fact: Fact


Findings = Iterator[Finding]


def check(archive: Archive) -> Finding:
    """Whether the archive is whole, and this version can read it."""
    manifest = archive.manifest
    if manifest["vendor"] != connection.vendor:
        raise BackupRefused("backup.vendor", vendor=manifest["vendor"], here=connection.vendor)
    if unknown := newer_tables.unknown_migrations(manifest["migrations"]):
        raise BackupRefused(
            "backup.newer", version=manifest["assay"], here=VERSION, migration=unknown[0]
        )
    if newer_tables.is_too_old(manifest["migrations"]):
        oldest = newer_tables.OLDEST
        raise BackupRefused("backup.older", version=manifest["assay"], here=VERSION, oldest=oldest)
    archive.verify()
    return Finding(
        "archive",
        True,
        Fact("restore.archive", made_at=manifest["made_at"], version=manifest["assay"]),
    )


def require_empty() -> None:
    with connection.cursor() as cursor:
        counts = copies.count(cursor)
    rows = {table: n for table, n in counts.items() if n and table not in OF_EVERY_DATABASE}
    if rows:
        most = max(rows, key=lambda table: rows[table])
        raise BackupRefused("backup.not_empty", rows=sum(rows.values()), table=most)


def restore(archive: Archive) -> Findings:
    """What became of each part. The database is there as a whole, or as it was before."""
    manifest = archive.manifest
    with archive.opened(copies.MEMBER[connection.vendor]) as content:
        copies.restore(content)
    yield _counted(manifest)
    yield from _keys(archive)
    call_command("migrate", verbosity=0, interactive=False)
    yield _migrated(manifest)
    yield _guarded()
    yield from verify()


def verify() -> Findings:
    """The audit log and every release, by what the keys of this installation have signed."""
    checked = audit_chain.check()
    if checked.n_faults:
        fact = Fact("restore.log_faults", n=checked.n_faults)
    else:
        fact = Fact("restore.log", n=checked.head["position"] if checked.head else 0)
    yield Finding("audit log", not checked.n_faults, fact)
    n_releases = 0
    for release in GoldRelease.objects.order_by("pk"):
        n_releases += 1
        n_faults = verification.check(release).n_faults
        if n_faults:
            yield Finding("gold", False, Fact("restore.gold_faults", name=str(release), n=n_faults))
        else:
            fact = Fact("restore.release", name=str(release), items=release.items.count())
            yield Finding("gold", True, fact)
    if not n_releases:
        yield Finding("gold", True, Fact("restore.no_gold"))


def _counted(manifest: Manifest) -> Finding:
    with connection.cursor() as cursor:
        counts = copies.count(cursor)
    wanted = manifest["counts"]
    other = [name for name in sorted({*counts, *wanted}) if counts.get(name) != wanted.get(name)]
    if other:
        return Finding("rows", False, Fact("restore.other_counts", tables=", ".join(other[:SHOWN])))
    return Finding("rows", True, Fact("restore.counts", rows=sum(counts.values()), n=len(counts)))


def _migrated(manifest: Manifest) -> Finding:
    with connection.cursor() as cursor:
        cursor.execute("SELECT COUNT(*) FROM django_migrations")
        new = cursor.fetchone()[0] - len(manifest["migrations"])
    return Finding("migrations", True, Fact("restore.migrated", n=new))


def _guarded() -> Finding:
    lost = guards.missing(connection, guards.GUARDS)
    if lost:
        return Finding("guards", False, Fact("restore.guards_missing", names=", ".join(lost)))
    return Finding("guards", True, Fact("restore.guards"))


# --- keys ---------------------------------------------------------------------------------------


def _keys(archive: Archive) -> Findings:
    """Those of the data folder are replaced and kept; those of the settings stay and are named."""
    key = archive.read("secret_key").decode()
    if key == settings.SECRET_KEY:
        yield Finding("secret_key", True, Fact("restore.key_same"))
    elif env_secret("ASSAY_SECRET_KEY"):
        yield Finding("secret_key", True, Fact("restore.secret_key_set"))
    else:
        yield _replace("secret_key", key)
        settings.SECRET_KEY = key
    key = archive.read("gold_key").decode()
    if key == settings.GOLD_KEY:
        yield Finding("gold_key", True, Fact("restore.key_same"))
    elif env_secret("ASSAY_GOLD_KEY"):
        fingerprint = archive.manifest["gold_key"]
        fact = Fact("restore.gold_key_set", fingerprint=fingerprint)
        yield Finding("gold_key", fingerprint in signing.trusted(), fact)
    else:
        yield _replace("gold_key", key)
        settings.GOLD_KEY = key


def _replace(name: str, key: str) -> Finding:
    path = settings.DATA_DIR / name
    kept = path.with_name(f"{name}.{time.time_ns() // 1_000_000}")
    if path.exists():
        os.link(path, kept)
    draft = path.with_name(f"{name}.{os.getpid()}")
    draft.touch(mode=0o600)
    draft.write_text(key)
    draft.replace(path)
    return Finding(name, True, Fact("restore.key_replaced", kept=kept.name))
