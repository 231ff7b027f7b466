"""Sending what waits for a webhook: in order, by one worker at a time, with retries.

A delivery that fails is tried again later and later, and given up in the end. An address that
fails rests as a whole, so that a receiver that is down costs one attempt now and then, however
much waits for it. What a worker that died had sent without noting it down is sent again, under the
same id.
"""

from __future__ import annotations

import logging
from datetime import timedelta
from time import monotonic
from typing import TypedDict
from urllib.parse import urlencode
from uuid import UUID

from django.conf import settings
from django.db import transaction
from django.db.models import F
from django.urls import reverse
from django.utils import timezone

from labeling.core import events
from labeling.domain.canonical import canonical_json
from labeling.jobs import outbox, queue
from labeling.jobs.queue import JobLease
from labeling.models import Event, Project, Webhook, WebhookDelivery
from labeling.operation.rules import webhooks as rules
from labeling.operation.webhooks.transport import LIMIT_SECONDS, Outcome, Response, post

logger = logging.getLogger(__name__)

SLICE_SECONDS = 20  # then other webhooks get their turn
KEPT_DAYS = 90  # how long the log keeps finished deliveries
FORGOTTEN_AT_ONCE = 1000
GONE = 410

State = WebhookDelivery.State


def work(webhook_id: int, owner: UUID) -> None:
    """Send what is due; nothing if another worker is at it."""
    lease = queue.claim("webhooks", webhook_id, owner)
    if lease is None:
        return
    if outbox.due().filter(pk=webhook_id).exists():
        _send_some(lease)
        _forget_old(webhook_id)
    lease.finish()


def _send_some(lease: JobLease) -> None:
    end = monotonic() + SLICE_SECONDS
    while monotonic() < end and lease.renew():
        webhook = Webhook.objects.not_removed().filter(pk=lease.key, active=True).first()
        delivery = _next(webhook) if webhook else None
        if webhook is None or delivery is None or not send(webhook, delivery):
            return


def _forget_old(webhook_id: int) -> None:
    """The oldest lines leave the log of a webhook that is sent to; what waits never does."""
    limit = timezone.now() - timedelta(days=KEPT_DAYS)
    for state in (State.DELIVERED, State.FAILED):
        done = WebhookDelivery.objects.filter(webhook=webhook_id, state=state)
        oldest = done.order_by("pk").values("pk")[:FORGOTTEN_AT_ONCE]  # read from the index alone
        done.filter(pk__in=oldest, tried_at__lt=limit).delete()


def _next(webhook: Webhook) -> WebhookDelivery | None:
    due = WebhookDelivery.objects.filter(webhook=webhook).due(timezone.now())
    with_event = due.select_related("event__actor", "event__project")
    return with_event.order_by("next_attempt_at", "pk").first()


def send(webhook: Webhook, delivery: WebhookDelivery) -> bool:
    """One attempt; whether the receiver took it."""
    body, timestamp = body_of(delivery), int(timezone.now().timestamp())
    signed = rules.headers(
        webhook.secret, message_id=delivery.message_id, timestamp=timestamp, body=body
    )
    headers = {"Content-Type": "application/json", "User-Agent": "Assay-Webhook/1", **signed}
    response = post(
        webhook.url,
        body,
        headers,
        allow_private=settings.WEBHOOK_ALLOW_PRIVATE,
        seconds=LIMIT_SECONDS,
    )
    _store(webhook, delivery, response)
    return response.outcome == Outcome.TAKEN


@transaction.atomic
def _store(webhook: Webhook, delivery: WebhookDelivery, response: Response) -> None:
    now = timezone.now()
    attempts = delivery.attempts + 1
    taken, wait = response.outcome == Outcome.TAKEN, rules.wait_after(attempts)
    changed = {"outcome": response.outcome, "status": response.status, "tried_at": now}
    if taken:
        changed["state"] = State.DELIVERED
    elif wait is None:
        changed["state"] = State.FAILED
    else:
        changed["next_attempt_at"] = now + timedelta(seconds=wait)
    # another worker may have delivered it in the meantime: then nothing changes
    waiting = WebhookDelivery.objects.filter(pk=delivery.pk, state=State.WAITING)
    waiting.update(attempts=attempts, **changed)
    if taken:
        _relieve(webhook)
    else:
        _rest(webhook, response)


def _relieve(webhook: Webhook) -> None:
    failing = Webhook.objects.filter(pk=webhook.pk).exclude(failures_in_a_row=0)
    failing.update(failures_in_a_row=0, resting_until=None)


def _rest(webhook: Webhook, response: Response) -> None:
    seconds = rules.rest_after(webhook.failures_in_a_row + 1)
    logger.warning(
        "Webhook %s: %s (%s).", webhook.pk, response.outcome, response.status or "no status"
    )
    here = Webhook.objects.filter(pk=webhook.pk)
    here.update(
        failures_in_a_row=F("failures_in_a_row") + 1,
        resting_until=timezone.now() + timedelta(seconds=seconds),
    )
    if response.status == GONE and here.filter(active=True).update(active=False):
        events.record("webhook.gone", webhook, project=webhook.project, host=webhook.host)


# --- messages -------------------------------------------------------------------------------------


def body_of(delivery: WebhookDelivery) -> bytes:
    """The same bytes at every attempt: an event never changes."""
    event = delivery.event
    assert event.project is not None
    actor = event.actor.get_username() if event.actor and delivery.names_actor else None
    message: WebhookMessage = {
        "id": delivery.message_id,
        "verb": event.verb,
        "project": event.project.slug,
        "object": _object(event, event.project),
        "actor": actor,
        "time": event.at.isoformat().replace("+00:00", "Z"),
    }
    return canonical_json(message).encode()


class WebhookObject(TypedDict):
    type: str
    id: str
    url: str
    conversation: str | None


class WebhookMessage(TypedDict):
    """What a receiver gets, signed."""

    id: str
    verb: str
    project: str
    object: WebhookObject
    actor: str | None
    time: str


def _object(event: Event, project: Project) -> WebhookObject:
    """``conversation``: the id of the conversation that the object belongs to, if to one.

    Never the conversations of hidden checks: the people who are checked may read the receiver.
    """
    conversation = None if event.verb.startswith("checks.") else event.data.get("conversation")
    return {
        "type": event.object_type,
        "id": event.object_id,
        "url": settings.PUBLIC_URL + _path(event, project, conversation),
        "conversation": conversation,
    }


def _path(event: Event, project: Project, conversation: str | None) -> str:
    """The page of a run or a conversation; of others, their lines in the audit log."""
    if event.object_type == "run":
        return reverse("run", args=[event.object_id])
    if conversation and (row := project.conversations.filter(external_id=conversation).first()):
        return reverse("conversation", args=[project.slug, row.pk])
    about = urlencode({"about": f"{event.object_type} {event.object_id}"})
    return f"{reverse('audit', args=[project.slug])}?{about}"
