"""The background work of labeling, for the list of all work (``jobs``)."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Any

from django.db.models import Count, Min
from django.urls import reverse

from labeling.core import clock
from labeling.domain.facts import Fact
from labeling.domain.msgids import msgid
from labeling.gold import gold_requests
from labeling.jobs import jobs
from labeling.jobs.jobs import Failure, Job, Kind
from labeling.models import Event, PendingUpdate, Project, WebhookDelivery
from labeling.screening import check_turns


def register() -> None:
    jobs.register(
        Kind("answers", _answers),
        Kind("freeze", _freezes, _refused_freezes),
        Kind("checks", _checks),
        Kind("webhooks", _webhooks, _given_up),
    )


def _answers() -> Iterator[Job]:
    rows = PendingUpdate.objects.order_by()
    return _of_each("answers", rows, "project", "asked_at", "progress")


def _checks() -> Iterator[Job]:
    rows = check_turns.unscored()
    return _of_each("checks", rows, "round__project", "annotation__updated_at", "checks")


def _of_each(kind: str, rows: Any, path: str, asked_at: str, page: str) -> Iterator[Job]:
    """One job for each project: a worker takes all that is due in it."""
    counted = list(rows.values(path).annotate(n=Count("pk"), since=Min(asked_at)))
    projects = Project.objects.in_bulk([row[path] for row in counted])
    for row in counted:
        project = projects[row[path]]
        url = reverse(page, args=[project.slug])
        yield Job(kind, project.pk, row["since"], False, project, url=url, total=row["n"])


def _freezes() -> Iterator[Job]:
    """Only the first of a project can be under way: they are taken in order."""
    asked = gold_requests.all_waiting()
    seen: set[int | None] = set()
    for each in asked:
        if each.project is None:
            continue
        held_as = 0 if each.project_id in seen else each.project_id
        seen.add(each.project_id)
        named = _of_gold(each)
        yield Job("freeze", each.pk, each.at, False, each.project, *named, held_as=held_as)


def _of_gold(event: Event) -> tuple[str, str]:
    """Title and address."""
    assert event.project is not None
    return str(event.data.get("name") or ""), reverse("gold", args=[event.project.slug])


def _webhooks() -> Iterator[Job]:
    """One job for each address with something to send now, unless it is paused or rests."""
    now = clock.now()
    due = WebhookDelivery.objects.due(now).filter(webhook__removed_at=None)
    due = due.filter(webhook__active=True).order_by()
    rows = due.values("webhook", "webhook__project", "webhook__resting_until")
    counted = list(rows.annotate(n=Count("pk"), since=Min("next_attempt_at")))
    projects = Project.objects.in_bulk({row["webhook__project"] for row in counted})
    for row in counted:
        if (rests := row["webhook__resting_until"]) and rests > now:
            continue
        project, key = projects[row["webhook__project"]], row["webhook"]
        page = reverse("webhook", args=[project.slug, key])
        yield Job("webhooks", key, row["since"], False, project, url=page, total=row["n"])


# --- what failed ----------------------------------------------------------------------------------


def _refused_freezes(since: datetime) -> Iterator[Failure]:
    verb = gold_requests.OUTCOMES[1]
    refused = Event.objects.filter(verb=verb, at__gt=since)
    for event in refused.select_related("project").order_by("-pk")[: jobs.FAILURES]:
        why = Fact.from_json(event.data["message"])
        yield Failure("freeze", event.pk, event.at, why, event.project, *_of_gold(event))


def _given_up(since: datetime) -> Iterator[Failure]:
    failed = WebhookDelivery.objects.filter(
        state=WebhookDelivery.State.FAILED, tried_at__gt=since, webhook__removed_at=None
    )
    rows = failed.select_related("webhook__project")
    for row in rows.order_by("-pk")[: jobs.FAILURES]:
        project = row.webhook.project
        why = Fact(
            msgid("{host} did not take a message, in {attempts} tries."),
            host=row.webhook.host,
            attempts=row.attempts,
        )
        page = reverse("webhook", args=[project.slug, row.webhook_id])
        assert row.tried_at is not None
        yield Failure("webhooks", row.pk, row.tried_at, why, project, url=page)
