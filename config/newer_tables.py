"""A database of a version that this one does not know is left alone."""

from __future__ import annotations

import sys
from pathlib import Path

from config.version import VERSION

OURS = ("labeling", "evaluation")


def require_known_migrations() -> None:
    if unknown := unknown_migrations():
        sys.exit(
            f"assay: The database is of a newer version than Assay {VERSION}, which does not know "
            f"{', '.join(unknown[:3])}: start the newer version, or restore a backup of this one."
        )


def unknown_migrations() -> list[str]:
    """Those of our tables that this version does not have; none where nobody can be asked."""
    from django.apps import apps
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
    known = {
        (app, path.stem)
        for app in OURS
        for path in Path(apps.get_app_config(app).path, "migrations").glob("*.py")
    }
    return [
        f"{app}.{name}" for app, name in sorted(made) if app in OURS and (app, name) not in known
    ]
