"""The webhooks of a project: created, changed, tested, paused and removed by its leads.

The audit log says of an address no more than its host, and of a secret nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import Any, NamedTuple

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
from labeling.models import Project, Webhook, WebhookDelivery
from labeling.operation.rules.webhooks import make_webhook_secret, why_unusable
from labeling.words import EVENTS

VERBS = sorted(EVENTS.keys() - {outbox.TEST})
MOST = 20  # of one project: each event is written down for each of them
OVERLAP_HOURS = 24  # how long a replaced secret also signs

State = WebhookDelivery.State


class WebhookRefused(RuleError):
    """The address cannot be used, or there are too many."""

    code = "webhook_refused"


class CreatedWebhook(NamedTuple):
    """A new webhook with its secret, which is shown only once."""

    webhook: Webhook
    secret: str


def of_project(project: Project) -> QuerySet[Webhook]:
    return project.webhooks.not_removed().select_related("created_by")


def with_figures(webhooks: QuerySet[Webhook]) -> QuerySet[Webhook]:
    """With ``n_waiting``, ``n_failed`` and what came of the delivery that was tried last."""
    here = WebhookDelivery.objects.filter(webhook=OuterRef("pk"))
    last = here.filter(tried_at__isnull=False).order_by("-tried_at", "-pk")
    return webhooks.annotate(
        n_waiting=_number(here.filter(state=State.WAITING)),
        n_failed=_number(here.filter(state=State.FAILED)),
        last_pk=Subquery(last.values("pk")[:1]),
    )


def _number(deliveries: QuerySet[WebhookDelivery]) -> Coalesce:
    counted = deliveries.order_by().values("webhook").annotate(n=Count("pk")).values("n")
    return Coalesce(Subquery(counted), 0)


@transaction.atomic
def add(*, project: Project, url: str, verbs: Sequence[str] = (), by: User) -> CreatedWebhook:
    projects.lock(project)  # or two at once exceed the limit
    if of_project(project).count() >= MOST:
        raise WebhookRefused(
            msgid("A project has {most} webhooks at most: remove one first."), most=MOST
        )
    _check(url)
    secret = make_webhook_secret()
    webhook = Webhook.objects.create(
        project=project, url=url, verbs=sorted(verbs), secret=secret, created_by=by
    )
    _record("webhook.added", webhook, by, verbs=webhook.verbs)
    return CreatedWebhook(webhook, secret)


@transaction.atomic
def change(webhook: Webhook, *, url: str, verbs: Sequence[str], by: User) -> None:
    _check(url)
    fields = [
        name
        for name, value in (("url", url), ("verbs", sorted(verbs)))
        if getattr(webhook, name) != value
    ]
    if not fields:
        return
    webhook.url, webhook.verbs = url, sorted(verbs)
    _kept(webhook).update(url=webhook.url, verbs=webhook.verbs)
    _record("webhook.changed", webhook, by, fields=fields)
    _try_now(webhook)


def _check(url: str) -> None:
    if wrong := why_unusable(url, allow_private=settings.WEBHOOK_ALLOW_PRIVATE):
        raise WebhookRefused(wrong)


@transaction.atomic
def pause(webhook: Webhook, *, by: User) -> None:
    """Stop sending; events in the meantime are kept and sent afterwards."""
    if _kept(webhook).filter(active=True).update(active=False):
        _record("webhook.paused", webhook, by)


@transaction.atomic
def resume(webhook: Webhook, *, by: User) -> None:
    if _kept(webhook).filter(active=False).update(active=True):
        _record("webhook.resumed", webhook, by)
        _try_now(webhook)


@transaction.atomic
def rotate(webhook: Webhook, *, by: User) -> CreatedWebhook:
    """A new secret; for a day both sign, so that the receiver can change over in peace."""
    now, secret = timezone.now(), make_webhook_secret()
    old = Webhook.objects.select_for_update(no_key=True).get(pk=webhook.pk).secret
    _kept(webhook).update(
        secret=secret, old_secret=old, old_secret_until=now + timedelta(hours=OVERLAP_HOURS)
    )
    _record("webhook.secret_rotated", webhook, by)
    return CreatedWebhook(webhook, secret)


@transaction.atomic
def test(webhook: Webhook, *, by: User) -> None:
    """A delivery to this webhook alone, regardless of its chosen events."""
    event = events.record(
        outbox.TEST, webhook, project=webhook.project, actor=by, host=webhook.host
    )
    _try_now(webhook)
    outbox.add(event, webhook, [webhook])


@transaction.atomic
def send_again(delivery: WebhookDelivery, *, by: User) -> None:
    """Under its old id, with all attempts before it."""
    WebhookDelivery.objects.filter(pk=delivery.pk).update(
        state=State.WAITING, attempts=0, next_attempt_at=timezone.now()
    )
    _record("webhook.sent_again", delivery.webhook, by, delivery=delivery.message_id)
    _try_now(delivery.webhook)


@transaction.atomic
def remove(webhook: Webhook, *, by: User) -> None:
    """The row stays, without address and secrets; pending deliveries are deleted with the log."""
    emptied = {"url": "", "secret": "", "old_secret": "", "active": False}
    if _kept(webhook).update(removed_at=timezone.now(), **emptied):
        webhook.deliveries.all().delete()
        _record("webhook.removed", webhook, by)


def _kept(webhook: Webhook) -> QuerySet[Webhook]:
    return Webhook.objects.not_removed().filter(pk=webhook.pk)


def _try_now(webhook: Webhook) -> None:
    """After a change people want to see its effect, so the address is no longer paused."""
    _kept(webhook).update(resting_until=None)
    queue.ask("webhooks", webhook.pk)


def _record(verb: str, webhook: Webhook, by: User, **data: Any) -> None:
    events.record(verb, webhook, project=webhook.project, actor=by, host=webhook.host, **data)
