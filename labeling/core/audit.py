"""What a release states of the audit log, and whether the log still says so."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from django.db.models import Max, QuerySet

from labeling.core.rules.audit import EventRecord, StatedEvents, events_sha256
from labeling.domain.facts import Fact
from labeling.models import Event, Project

LATE = 10_000
"""Numbers behind the newest event that may still be given to one that is being written."""


def state(project: Project) -> StatedEvents:
    """The events of the project so far; those of a project that is yet to be created are none."""
    last = Event.objects.aggregate(last=Max("pk"))["last"] or 0
    first = max(1, last - LATE)
    there = set(Event.objects.filter(pk__gte=first).order_by().values_list("pk", flat=True))
    missing = [number for number in range(first, last) if number not in there]
    number, sha256 = events_sha256(records(_up_to(project.pk, last, missing)))
    return {"last": last, "number": number, "open": missing, "sha256": sha256}


def faults(project: Project, stated: Any) -> Iterator[Fact]:
    """Whether the events that a release states are there, as they were, and no others."""
    try:
        last, missing = int(stated["last"]), [int(number) for number in stated["open"]]
        said = (stated["number"], stated["sha256"])
    except (KeyError, TypeError, ValueError):  # a forged statement may hold anything
        yield Fact("verify.events_not_stated")
        return
    found = events_sha256(records(_up_to(project.pk, last, missing)))
    if found != said:
        yield Fact("verify.events", last=last, stated=str(said[0]), found=found[0])


def _up_to(project: int | None, last: int, missing: list[int]) -> QuerySet[Event]:
    """Without those that came in since under numbers that were missing."""
    events = Event.objects.filter(project=project, pk__lte=last).order_by("pk")
    return events.exclude(pk__in=missing) if missing else events


def records(events: QuerySet[Event]) -> Iterator[EventRecord]:
    columns = ("pk", "project__slug", "actor_id", "verb", "object_type", "object_id", "data", "at")
    rows = events.values_list(*columns).iterator(chunk_size=1_000)
    return (EventRecord(*row) for row in rows)


def latest(events: QuerySet[Event]) -> Mapping[str, Event]:
    """By the object's id, the newest of these events."""
    return {event.object_id: event for event in events.order_by("pk")}
