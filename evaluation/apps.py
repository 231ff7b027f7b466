from collections.abc import Sequence
from typing import Any

from django.apps import AppConfig
from django.core import checks
from django.db import connections
from django.db.models.signals import post_migrate

from labeling.gold.rules.lint import PersonalPiece


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
    from labeling.exchange import plugins
    from labeling.words import in_english

    return [
        checks.Warning(
            f"{fault.source}: {fault.name} ({fault.group}) is left out. {in_english(fault.reason)}",
            id="evaluation.W001",
        )
        for fault in plugins.faults()
    ]


def _personal_data(text: str) -> list[PersonalPiece]:
    from pipelines.requirements.validation.pii import validated_pieces

    return [PersonalPiece(*piece) for piece in validated_pieces(text)]


class EvaluationConfig(AppConfig):
    name = "evaluation"

    def ready(self) -> None:
        from evaluation.services import (
            cache_check,
            digests,
            job_kinds,
            label_hints,
            plugins,
            run_metrics,
        )
        from evaluation.services.run.affected import runs_about
        from evaluation.words import WORDS
        from labeling import words
        from labeling.gold import affected, lint

        words.register(WORDS)
        affected.register(runs_about)
        cache_check.register()
        digests.register()
        job_kinds.register()
        label_hints.register()
        lint.register(_personal_data)
        plugins.register()
        run_metrics.register()
        post_migrate.connect(_install_guards, sender=self)
        checks.register(_missing_guards, checks.Tags.database, deploy=True)
        checks.register(_refused_plugins, "plugins")
