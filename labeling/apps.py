import importlib
import sys
from collections.abc import Sequence
from typing import Any

from django.apps import AppConfig
from django.contrib.admin import apps as admin_apps
from django.core import checks
from django.db import connections
from django.db.models.signals import post_migrate


def _install_guards(using: str, plan: Sequence[Any] = (), **kwargs: Any) -> None:
    """After every migrate: SQLite rebuilds a table to alter it, without triggers and counts."""
    from labeling.core import planner
    from labeling.core.models import guards

    guards.renew(connections[using])
    if plan:
        planner.count()


def _missing_guards(
    databases: Sequence[str] | None = None, **kwargs: Any
) -> list[checks.CheckMessage]:
    """For ``check --deploy --database default``: a table that somebody altered by hand has none."""
    from labeling.core.models import guards

    return guards.errors(databases or (), guards.GUARDS, id="labeling.E001")


UNUSED_BY_REST_FRAMEWORK = ("django.contrib.postgres", "pygments", "requests")


def _load_rest_framework() -> None:
    """It loads these when they are installed, and nobody here asks it for what needs them.

    Without them, and without the driver of PostgreSQL that comes with the first, a web process
    is up an eighth sooner.
    """
    absent = [name for name in UNUSED_BY_REST_FRAMEWORK if name not in sys.modules]
    sys.modules.update(dict.fromkeys(absent))  # type: ignore[arg-type]  # None: cannot be imported
    try:
        importlib.import_module("rest_framework.compat")
    finally:
        for name in absent:
            del sys.modules[name]


class AssayAdminConfig(admin_apps.AdminConfig):
    default = False
    default_site = "labeling.admin_site.AssaySite"


class LabelingConfig(AppConfig):
    default = True
    name = "labeling"

    def ready(self) -> None:
        from labeling import job_kinds
        from labeling.core import clock

        _load_rest_framework()
        job_kinds.register()
        clock.start()
        post_migrate.connect(_install_guards, sender=self)
        checks.register(_missing_guards, checks.Tags.database, deploy=True)
