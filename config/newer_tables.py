"""A database of a version that this one cannot read is left alone."""

from __future__ import annotations

import sys
from collections.abc import Collection
from pathlib import Path

from config.version import VERSION

OURS = ("labeling", "evaluation")
OLDEST = "0.6.0"
"""The oldest version whose tables this one takes over."""


def require_known_migrations() -> None:
    made = _made()
    if unknown := unknown_migrations(made):
        sys.exit(
            f"assay: The database is of a newer version than Assay {VERSION}, which does not know "
            f"{', '.join(unknown[:3])}: start the newer version, or restore a backup of this one."
        )
    if is_too_old(made):
        sys.exit(
            f"assay: The database is of a version before {OLDEST}, which Assay {VERSION} does not "
            f"read: install Assay {OLDEST}, run assay migrate there, and then install {VERSION}."
        )


def unknown_migrations(made: Collection[str]) -> list[str]:
    """Those of our tables that this version does not have."""
    own, replaced = _of_this_version()
    ours = tuple(f"{app}." for app in OURS)
    return sorted(name for name in {*made} - own - replaced if name.startswith(ours))


def is_too_old(made: Collection[str]) -> bool:
    """Some of the first steps were made, but not all that are one step today."""
    _, replaced = _of_this_version()
    return not replaced.isdisjoint(made) and not replaced.issubset(made)


def _of_this_version() -> tuple[set[str], set[str]]:
    """Its migrations, and those that they replace."""
    from django.db.migrations.loader import MigrationLoader

    stored = MigrationLoader(None, ignore_no_migrations=True).disk_migrations
    ours = {key: step for key, step in stored.items() if key[0] in OURS}
    replaced = (key for step in ours.values() for key in step.replaces)
    return {f"{app}.{name}" for app, name in ours}, {f"{app}.{name}" for app, name in replaced}


def _made() -> list[str]:
    """Nothing where nobody can be asked."""
    from django.conf import settings
    from django.db import DatabaseError, connection
    from django.db.migrations.recorder import MigrationRecorder

    database = settings.DATABASES["default"]
    if connection.vendor == "sqlite" and not Path(database["NAME"]).exists():
        return []  # to ask would make it
    try:
        made = MigrationRecorder(connection).applied_migrations()
    except DatabaseError:
        return []
    return [f"{app}.{name}" for app, name in made]
