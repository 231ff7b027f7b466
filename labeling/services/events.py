"""The audit log: every service writes what it did, in its own transaction."""

from __future__ import annotations

from typing import Any

from django.db.models import Model

from labeling.models import Event, Project


def record(
    verb: str, subject: Model, *, project: Project | None, actor: Any = None, **data: Any
) -> Event:
    return Event.objects.create(
        project=project,
        actor=actor,
        verb=verb,
        object_type=subject._meta.model_name or "",
        object_id=str(subject.pk),
        data=data,
    )
