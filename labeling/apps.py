from typing import Any

from django.apps import AppConfig
from django.db import connections
from django.db.models.signals import post_migrate


def _install_guards(using: str, **kwargs: Any) -> None:
    """After every migrate, because SQLite rebuilds a table to alter it and drops its triggers."""
    from labeling.models import guards

    guards.remove(connections[using])
    guards.install(connections[using])


class LabelingConfig(AppConfig):
    name = "labeling"

    def ready(self) -> None:
        post_migrate.connect(_install_guards, sender=self)
