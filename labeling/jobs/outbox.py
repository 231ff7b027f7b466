"""What happened is put down for each webhook with the event itself: in one transaction, or not.

A worker that is killed, a server that restarts: the row is there, and the next sweep of any worker
finds it.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Sequence

from django.db.models import Exists, Model, OuterRef, Q, QuerySet
from django.utils import timezone

from labeling.jobs import queue
from labeling.models import (
    Annotation,
    Assignment,
    Comment,
    Disagreement,
    Event,
    Project,
    Review,
    Round,
    Webhook,
    WebhookDelivery,
)

logger = logging.getLogger(__name__)

FIRST = "webhook.added"
"""For the new webhook alone."""


def put(rows: Sequence[tuple[Event, Model]], project: Project | None) -> None:
    """Write a delivery for every webhook that wants such events, even a paused one.

    They are of one project, each with its subject.
    """
    if project is None or not rows or rows[0][0].verb == FIRST:
        return
    webhooks = Webhook.objects.filter(project=project, removed_at=None).only("pk", "verbs")
    for event, subject in rows:
        add(event, subject, [webhook for webhook in webhooks if webhook.wants(event.verb)])


def add(event: Event, subject: Model, webhooks: Iterable[Webhook]) -> None:
    """The caller holds a transaction."""
    recipients, now = list(webhooks), timezone.now()
    if not recipients:
        return
    WebhookDelivery.objects.bulk_create(
        WebhookDelivery(
            webhook=webhook,
            event=event,
            round=_blind_round(subject),
            names_actor=not _is_discussion(subject),
            next_attempt_at=now,
        )
        for webhook in recipients
    )
    for webhook in recipients:
        queue.ask("webhooks", webhook.pk)


def _blind_round(subject: Model) -> Round | None:
    """The round whose answers the event reports, while they must stay secret."""
    round_ = _round_of(subject)
    return round_ if round_ is not None and round_.is_blind else None


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
    """Discussions may show letters instead of names; a receiver must not learn more."""
    if isinstance(subject, Comment):
        return subject.disagreement_id is not None
    return isinstance(subject, Disagreement)


def due() -> QuerySet[Webhook, int]:
    """Webhooks with something to send now."""
    now = timezone.now()
    waiting = WebhookDelivery.objects.filter(webhook=OuterRef("pk")).due(now)
    ready = Webhook.objects.not_removed().filter(Exists(waiting), active=True)
    rested = ready.filter(Q(resting_until=None) | Q(resting_until__lte=now))
    return rested.values_list("pk", flat=True)
