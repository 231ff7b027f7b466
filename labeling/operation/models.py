"""Webhooks: where a project notifies other systems, and what it has sent to them."""

from __future__ import annotations

from datetime import datetime
from uuid import uuid4

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from labeling.core.models.events import Event
from labeling.core.models.projects import Project
from labeling.operation.rules.webhooks import host_of
from labeling.work.models.rounds import Round


class WebhookQuerySet(models.QuerySet["Webhook"]):
    def not_removed(self) -> WebhookQuerySet:
        return self.filter(removed_at__isnull=True)


class Webhook(models.Model):
    """An address that gets a project's events.

    Its secret signs what is sent, so it is stored as it is. After a failure the whole
    address rests (``resting_until``).

    A removed one stays as an empty row: a delivery for it may just be being written, and that
    person's work must not fail.
    """

    project = models.ForeignKey(Project, models.CASCADE, related_name="webhooks")
    url = models.URLField(max_length=500)
    verbs = models.JSONField(default=list, blank=True, help_text="Empty: every event")
    active = models.BooleanField(default=True)
    secret = models.CharField(max_length=100)
    failures_in_a_row = models.PositiveIntegerField(default=0)
    resting_until = models.DateTimeField(null=True)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)
    removed_at = models.DateTimeField(null=True)

    objects = WebhookQuerySet.as_manager()

    class Meta:
        ordering = ["pk"]

    def __str__(self) -> str:
        return f"{self.project}: webhook to {self.host}"

    @property
    def host(self) -> str:
        """What may be said of the address: its path may hold a key of the receiver."""
        return host_of(self.url)

    def wants(self, verb: str) -> bool:
        return not self.verbs or verb in self.verbs


class DeliveryQuerySet(models.QuerySet["WebhookDelivery"]):
    def due(self, now: datetime) -> DeliveryQuerySet:
        """Waiting no longer, and telling nothing of a calibration round that is still blind."""
        waiting = self.filter(state=WebhookDelivery.State.WAITING, next_attempt_at__lte=now)
        return waiting.filter(Q(round=None) | ~Q(round__in=Round.objects.blind()))


class WebhookDelivery(models.Model):
    """One event for one webhook, written in the transaction of the event itself.

    ``public_id`` is the same in every attempt, so that the receiver knows a repetition.
    """

    class State(models.TextChoices):
        WAITING = "waiting", _("waiting")
        DELIVERED = "delivered", _("delivered")
        FAILED = "failed", _("given up")

    class Outcome(models.TextChoices):
        NONE = "", _("not tried yet")
        TAKEN = "taken", _("taken")
        REFUSED = "refused", _("the receiver refused it")
        REDIRECT = "redirect", _("the receiver answered with a redirect, which is not followed")
        TIMEOUT = "timeout", _("no answer in time")
        UNREACHABLE = "unreachable", _("no connection, or it broke off")
        INSECURE = "insecure", _("the certificate of the receiver is not trusted")
        UNKNOWN_HOST = "unknown_host", _("the name of the receiver is not known")
        PRIVATE = "private", _("the address lies in a private network")

    webhook = models.ForeignKey(Webhook, models.CASCADE, related_name="deliveries")
    event = models.ForeignKey(Event, models.PROTECT, related_name="+")
    public_id = models.UUIDField(default=uuid4, unique=True)
    round = models.ForeignKey(
        Round, models.PROTECT, null=True, related_name="+", help_text="Held while it is blind"
    )
    names_actor = models.BooleanField(default=True)
    state = models.CharField(max_length=9, choices=State, default=State.WAITING)
    attempts = models.PositiveSmallIntegerField(default=0)
    next_attempt_at = models.DateTimeField()
    outcome = models.CharField(max_length=12, choices=Outcome, blank=True, default=Outcome.NONE)
    status = models.PositiveSmallIntegerField(null=True, help_text="HTTP status of the last answer")
    tried_at = models.DateTimeField(null=True)

    objects = DeliveryQuerySet.as_manager()

    class Meta:
        ordering = ["-pk"]
        indexes = [
            models.Index(name="delivery_of_webhook", fields=["webhook", "state", "-id"]),
            models.Index(
                name="delivery_waiting",
                fields=["webhook", "next_attempt_at"],
                condition=Q(state="waiting"),
            ),
        ]
        constraints = [
            models.UniqueConstraint(name="delivery_once", fields=["webhook", "event"]),
            models.CheckConstraint(
                name="delivery_state_known",
                condition=Q(state__in=["waiting", "delivered", "failed"]),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.message_id} {self.state}"

    @property
    def message_id(self) -> str:
        return f"msg_{self.public_id.hex}"
