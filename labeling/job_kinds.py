"""The background work of labeling, for the list of all work (``jobs``)."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from django.db.models import Count, Min
from django.urls import reverse

from labeling.core import clock
from labeling.domain.facts import Fact
from labeling.domain.msgids import msgid
from labeling.gold import gold_requests
from labeling.jobs import jobs
from labeling.jobs.jobs import Failure, Job, Kind, Scope, of_projects
from labeling.models import Event, PendingUpdate, Project, WebhookDelivery
from labeling.screening import check_turns


def register() -> None:
    jobs.register(
        Kind("answers", _answers),
        Kind("freeze", _freezes, _refused_freezes),
        Kind("checks", _checks),
        Kind("webhooks", _webhooks, _given_up),
    )


def _answers(scope: Scope) -> Iterator[Job]:
    """One job for each project: a worker takes all that is due in it."""
    waiting = of_projects(PendingUpdate.objects.order_by(), scope).values("project")
    rows = list(waiting.annotate(n=Count("pk"), since=Min("asked_at")))
    projects = Project.objects.in_bulk([row["project"] for row in rows])
    for row in rows:
        project = projects.get(row["project"])
        if project is not None:
            yield Job(
                "answers",
                project.pk,
                row["since"],
                False,
                project,
                url=reverse("progress", args=[project.slug]),
                total=row["n"],
            )


def _freezes(scope: Scope) -> Iterator[Job]:
    """Only the first of a project can be under way: they are taken in order."""
    asked = gold_requests.all_waiting(scope)
    seen: set[int | None] = set()
    for each in asked:
        if each.project is None:
            continue
        held_as = 0 if each.project_id in seen else each.project_id
        seen.add(each.project_id)
        named = _of_gold(each, "gold")
        yield Job("freeze", each.pk, each.at, False, each.project, *named, held_as=held_as)


def _of_gold(event: Event, page: str) -> tuple[str, str]:
    """Title and address."""
    assert event.project is not None
    return str(event.data.get("name") or ""), reverse(page, args=[event.project.slug])


def _checks(scope: Scope) -> Iterator[Job]:
    rows = of_projects(check_turns.unscored(), scope, "round__project")
    counted = list(
        rows.values("round__project").annotate(n=Count("pk"), since=Min("annotation__updated_at"))
    )
    projects = Project.objects.in_bulk([row["round__project"] for row in counted])
    for row in counted:
        project = projects[row["round__project"]]
        page = reverse("checks", args=[project.slug])
        yield Job("checks", project.pk, row["since"], False, project, url=page, total=row["n"])


def _webhooks(scope: Scope) -> Iterator[Job]:
    """One job for each address with something to send now, unless it is paused or rests."""
    now = clock.now()
    due = WebhookDelivery.objects.due(now).filter(webhook__removed_at=None)
    due = of_projects(due.filter(webhook__active=True), scope, "webhook__project").order_by()
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


def _refused_freezes(scope: Scope, since: datetime) -> Iterator[Failure]:
    yield from _refused("freeze", gold_requests.OUTCOMES[1], "gold", scope, since)


def _refused(kind: str, verb: str, page: str, scope: Scope, since: datetime) -> Iterator[Failure]:
    refused = of_projects(Event.objects.filter(verb=verb, at__gt=since), scope)
    for event in refused.select_related("project").order_by("-pk")[: jobs.FAILURES]:
        why = Fact.from_json(event.data["message"])
        if event.project is not None:
            yield Failure(kind, event.pk, event.at, why, event.project, *_of_gold(event, page))


def _given_up(scope: Scope, since: datetime) -> Iterator[Failure]:
    failed = WebhookDelivery.objects.filter(
        state=WebhookDelivery.State.FAILED, tried_at__gt=since, webhook__removed_at=None
    )
    rows = of_projects(failed, scope, "webhook__project").select_related("webhook__project")
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
