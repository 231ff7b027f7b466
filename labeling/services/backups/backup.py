"""The database and the keys in one file, also while people work."""

from __future__ import annotations

import io
import time
from datetime import UTC, datetime
from pathlib import Path

from django.conf import settings
from django.db import connection
from django.db.migrations.recorder import MigrationRecorder

from config.version import VERSION
from labeling.services.backups import copies
from labeling.services.backups.archives import DRAFT, FORMAT, BackupRefused, Draft, Manifest
from labeling.services.gold import signing

NAME = "assay-{at:%Y%m%d-%H%M%S}.zip"
NAMES = "assay-????????-??????.zip"
LONGEST = 24 * 3600
"""Seconds without a byte after which nobody is writing a draft any more."""


def take(place: Path) -> tuple[Path, Manifest]:
    """A backup in this file, or in a new file of this folder."""
    if not MigrationRecorder(connection).applied_migrations():
        raise BackupRefused("backup.no_tables")
    at = datetime.now(UTC)
    path = place / NAME.format(at=at) if place.is_dir() else place
    _remove_drafts(path.parent)
    with Draft(path) as draft:
        with copies.copied(path.parent) as copy:
            draft.add(copies.MEMBER[connection.vendor], copy.content, compressed=copy.compressed)
        for name, key in (("secret_key", settings.SECRET_KEY), ("gold_key", settings.GOLD_KEY)):
            draft.add(name, io.BytesIO(key.encode()))
        manifest = Manifest(
            format=FORMAT,
            assay=VERSION,
            made_at=at.isoformat(timespec="seconds"),
            vendor=connection.vendor,
            server=copy.server,
            migrations=copy.migrations,
            counts=copy.counts,
            gold_key=signing.fingerprint(),
            members=draft.members,
        )
        draft.publish(manifest)
    return path, manifest


def _remove_drafts(folder: Path) -> None:
    """What a killed backup left: as large as a backup, and with the keys in it."""
    for draft in folder.glob(f"{DRAFT}*"):
        if time.time() - draft.stat().st_mtime > LONGEST:
            draft.unlink()


def keep_newest(folder: Path, number: int) -> list[Path]:
    """Delete older backups of the folder, by the names that :func:`take` gives; which went?"""
    old = sorted(folder.glob(NAMES), reverse=True)[number:]
    for path in old:
        path.unlink()
    return old
