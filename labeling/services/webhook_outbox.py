"""What happened is put down for each webhook with the event itself: in one transaction, or not.

A worker that is killed, a broker that is away, a server that restarts: the row is there, and the
next sweep of any worker finds it. A message to the queue only says where to look.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable
from functools import partial
from time import monotonic
from typing import Any

from celery import current_app
from django.db import transaction
from django.db.models import Exists, Model, OuterRef
from django.utils import timezone

from labeling.models import (
    Annotation,
    Assignment,
    Comment,
    Disagreement,
    Event,
    Review,
    Round,
    Webhook,
    WebhookDelivery,
)

logger = logging.getLogger(__name__)

TEST = "webhook.tested"
RESEND_SECONDS = 60  # all workers may be busy with something long

_woken_at: dict[int, float] = {}  # by webhook, in this process


def put(event: Event, subject: Model) -> None:
    """Written for every webhook of the project that wants such events, also for paused ones."""
    if event.project_id is None or event.verb == TEST:
        return
    kept = Webhook.objects.kept().filter(project=event.project_id).only("pk", "verbs")
    add(event, subject, [one for one in kept if one.wants(event.verb)])


def add(event: Event, subject: Model, webhooks: Iterable[Webhook]) -> None:
    """The caller holds a transaction."""
    told, now = list(webhooks), timezone.now()
    if not told:
        return
    WebhookDelivery.objects.bulk_create(
        WebhookDelivery(
            webhook=one,
            event=event,
            round=_blind_round(subject),
            names_actor=not _is_discussion(subject),
            next_attempt_at=now,
        )
        for one in told
    )
    for one in told:
        transaction.on_commit(partial(wake, one.pk), robust=True)


def _blind_round(subject: Model) -> Round | None:
    """The round whose answers the event tells of, while nobody may know of them."""
    found = _round_of(subject)
    return found if found is not None and found.is_blind else None


def _round_of(subject: Model) -> Round | None:
    match subject:
        case Annotation():
            return subject.assignment.round
        case Assignment() | Comment():
            return subject.round
        case Review():
            return subject.annotation.assignment.round
    return None


def _is_discussion(subject: Model) -> bool:
    """Discussions may show letters instead of names; a receiver shall not know more."""
    if isinstance(subject, Comment):
        return subject.disagreement_id is not None
    return isinstance(subject, Disagreement)


def wake(webhook_id: int) -> Any:
    """Have a worker look at a webhook."""
    _woken_at[webhook_id] = monotonic()
    try:
        return current_app.send_task("labeling.tasks.send_webhook", [webhook_id])
    except Exception:  # whatever the broker's client raises, the delivery is safely stored
        logger.exception("Webhook %s waits for the next sweep: no queue.", webhook_id)
        return None


def seen(webhook_id: int) -> None:
    """A worker has looked: the next sweep need not wait."""
    _woken_at.pop(webhook_id, None)


def is_due(webhook_id: int) -> bool:
    return _due().filter(pk=webhook_id).exists()


def wake_unattended() -> list[int]:
    """Another message for each webhook with something to send: its own is lost, or it is time."""
    waiting = list(_due().values_list("pk", flat=True))
    return [pk for pk in waiting if _may_wake(pk) and wake(pk)]


def _due() -> Any:
    now = timezone.now()
    due = WebhookDelivery.objects.filter(webhook=OuterRef("pk")).due(now)
    return Webhook.objects.idle(now).filter(Exists(due))


def _may_wake(webhook_id: int) -> bool:
    before = _woken_at.get(webhook_id)
    return before is None or monotonic() - before >= RESEND_SECONDS
