"""The audit log: every service writes what it did, in its own transaction."""

from __future__ import annotations

from typing import Any

from django.db import transaction
from django.db.models import Model

from labeling.models import Event, Project
from labeling.services import outbox, statements


@transaction.atomic(savepoint=False)  # with its webhook deliveries, in any case
def record(
    verb: str, subject: Model, *, project: Project | None, actor: Any = None, **data: Any
) -> Event:
    event = Event(
        project=project,
        actor=actor,
        verb=verb,
        object_type=subject._meta.model_name or "",
        object_id=str(subject.pk),
        data=data,
    )
    statements.insert(event)
    outbox.put(event, subject)
    return event


def reason_of(verb: str, subject: Model, *, project: Project) -> str:
    """The reason that the newest such event of the subject gives; empty if there is none."""
    of_subject = {"object_type": subject._meta.model_name, "object_id": str(subject.pk)}
    event = Event.objects.filter(project=project, verb=verb, **of_subject).first()
    return str(event.data.get("reason", "")) if event else ""
