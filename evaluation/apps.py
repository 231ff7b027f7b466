from typing import Any

from django.apps import AppConfig
from django.db import connections
from django.db.models.signals import post_migrate


def _install_guards(using: str, **kwargs: Any) -> None:
    from evaluation.models.guards import GUARDS
    from labeling.models import guards

    guards.remove(connections[using], GUARDS)
    guards.install(connections[using], GUARDS)


class EvaluationConfig(AppConfig):
    name = "evaluation"

    def ready(self) -> None:
        from evaluation.words import WORDS
        from labeling import words

        words.register(WORDS)
        post_migrate.connect(_install_guards, sender=self)
