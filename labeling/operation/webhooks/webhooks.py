"""The webhooks of a project: created, tested and removed by its leads.

The audit log says of an address no more than its host, and of a secret nothing. What is to be
another one is a new webhook, before the old one is removed.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.conf import settings
from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Count, OuterRef, QuerySet, Subquery
from django.db.models.functions import Coalesce
from django.utils import timezone

from labeling.core import events, projects
from labeling.domain.errors import RuleError
from labeling.domain.msgids import msgid
from labeling.jobs import outbox, queue
from labeling.models import Event, Project, Webhook, WebhookDelivery
from labeling.operation.rules.webhooks import make_webhook_secret, why_unusable
from labeling.words import EVENTS

VERBS = sorted(EVENTS.keys() - {outbox.FIRST})
MOST = 20  # of one project: each event is written down for each of them

State = WebhookDelivery.State


class WebhookRefused(RuleError, code="webhook_refused"):
    """The address cannot be used, or there are too many."""


def of_project(project: Project) -> QuerySet[Webhook]:
    return project.webhooks.not_removed().select_related("created_by")


def with_figures(webhooks: QuerySet[Webhook]) -> QuerySet[Webhook]:
    """With ``n_waiting`` and ``n_failed``."""
    here = WebhookDelivery.objects.filter(webhook=OuterRef("pk")).order_by().values("webhook")
    counts = {
        f"n_{state}": Coalesce(
            Subquery(here.filter(state=state).annotate(n=Count("pk")).values("n")), 0
        )
        for state in (State.WAITING, State.FAILED)
    }
    return webhooks.annotate(**counts)


@transaction.atomic
def add(*, project: Project, url: str, verbs: Sequence[str] = (), by: User) -> Webhook:
    """Its secret is shown to the lead once; its making is its first message, whatever it wants."""
    projects.lock(project)  # or two at once exceed the limit
    if of_project(project).count() >= MOST:
        raise WebhookRefused(
            msgid("A project has {most} webhooks at most: remove one first."), most=MOST
        )
    if wrong := why_unusable(url, allow_private=settings.WEBHOOK_ALLOW_PRIVATE):
        raise WebhookRefused(wrong)
    secret = make_webhook_secret()
    webhook = Webhook.objects.create(
        project=project, url=url, verbs=sorted(verbs), secret=secret, created_by=by
    )
    event = _record(outbox.FIRST, webhook, by, verbs=webhook.verbs)
    outbox.add(event, webhook, [webhook])
    return webhook


@transaction.atomic
def resume(webhook: Webhook, *, by: User) -> None:
    """Send now what waits, and what was given up: under its old ids."""
    _kept(webhook).update(active=True)
    webhook.deliveries.exclude(state=State.DELIVERED).update(
        state=State.WAITING, attempts=0, next_attempt_at=timezone.now()
    )
    _record("webhook.resumed", webhook, by)
    _try_now(webhook)


@transaction.atomic
def remove(webhook: Webhook, *, by: User) -> None:
    """The row stays, without address and secret; pending deliveries are deleted with the log."""
    emptied = {"url": "", "secret": "", "active": False}
    if _kept(webhook).update(removed_at=timezone.now(), **emptied):
        webhook.deliveries.all().delete()
        _record("webhook.removed", webhook, by)


def _kept(webhook: Webhook) -> QuerySet[Webhook]:
    return Webhook.objects.not_removed().filter(pk=webhook.pk)


def _try_now(webhook: Webhook) -> None:
    """After a change people want to see its effect, so the address rests no longer."""
    _kept(webhook).update(resting_until=None)
    queue.ask("webhooks", webhook.pk)


def _record(verb: str, webhook: Webhook, by: User, **data: Any) -> Event:
    told = {"host": webhook.host, **data}
    return events.record(verb, webhook, project=webhook.project, actor=by, **told)
