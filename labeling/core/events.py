"""The audit log: every service writes what it did, in its own transaction."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from django.db import transaction
from django.db.models import Model

from labeling.core import acting
from labeling.jobs import outbox
from labeling.models import Event, Project


@transaction.atomic(savepoint=False)  # with its webhook deliveries, in any case
def record(
    verb: str, subject: Model, *, project: Project | None, actor: Any = None, **data: Any
) -> Event:
    event = _event(verb, subject, project, actor, data)
    event.save(force_insert=True)
    outbox.put([(event, subject)], project)
    return event


@transaction.atomic(savepoint=False)
def record_each(
    verb: str, subjects: Iterable[tuple[Model, Mapping[str, Any]]], *, project: Project
) -> None:
    """The same of many subjects, each with its data, in as few statements as of one."""
    rows = [(_event(verb, subject, project, None, data), subject) for subject, data in subjects]
    Event.objects.bulk_create([event for event, _ in rows])
    outbox.put(rows, project)


def _event(
    verb: str, subject: Model, project: Project | None, actor: Any, data: Mapping[str, Any]
) -> Event:
    return Event(
        project=project,
        actor=actor or acting.person(),
        verb=verb,
        object_type=subject._meta.model_name or "",
        object_id=str(subject.pk),
        data=data,
    )


def reason_of(verb: str, subject: Model, *, project: Project) -> str:
    """The reason that the newest such event of the subject gives; empty if there is none."""
    of_subject = {"object_type": subject._meta.model_name, "object_id": str(subject.pk)}
    event = Event.objects.filter(project=project, verb=verb, **of_subject).first()
    return str(event.data.get("reason", "")) if event else ""
