from collections.abc import Sequence
from typing import Any

from django.apps import AppConfig
from django.core import checks
from django.db import connections
from django.db.models.signals import post_migrate


def _install_guards(using: str, **kwargs: Any) -> None:
    from evaluation.models.guards import GUARDS
    from labeling.core.models import guards

    guards.renew(connections[using], GUARDS)


def _missing_guards(
    databases: Sequence[str] | None = None, **kwargs: Any
) -> list[checks.CheckMessage]:
    """For ``check --deploy --database default``: a table that somebody altered by hand has none."""
    from evaluation.models.guards import GUARDS
    from labeling.core.models import guards

    return guards.errors(databases or (), GUARDS, id="evaluation.E001")


def _refused_plugins(**kwargs: Any) -> list[checks.CheckMessage]:
    """Entry points of installed packages that were not taken."""
    from evaluation.metrics.registry import METRICS
    from labeling.words import in_english
    from pipelines.registry import PIPELINES

    return [
        checks.Warning(
            f"{fault.source}: {fault.name} ({fault.group}) is left out. {in_english(fault.reason)}",
            id="evaluation.W001",
        )
        for registry in (PIPELINES, METRICS)
        for fault in registry.faults
    ]


class EvaluationConfig(AppConfig):
    name = "evaluation"

    def ready(self) -> None:
        from evaluation.services import digests, hooks, job_kinds
        from evaluation.views import documents
        from evaluation.words import WORDS
        from labeling import words

        words.register(WORDS)
        digests.register()
        hooks.register()
        job_kinds.register()
        documents.register()
        post_migrate.connect(_install_guards, sender=self)
        checks.register(_missing_guards, checks.Tags.database, deploy=True)
        checks.register(_refused_plugins, "plugins")
