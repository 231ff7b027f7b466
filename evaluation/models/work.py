from __future__ import annotations

from typing import Any

from django.db import models
from django.db.models import Q
from django.db.models.functions import Now
from django.utils.translation import gettext_lazy as _

from labeling.core.models.fields import FactField


class WorkQuerySet(models.QuerySet[Any]):
    """Leases are compared with the database's clock: those of workers may differ by hours."""

    def unfinished(self) -> WorkQuerySet:
        return self.filter(state__in=[Work.State.QUEUED, Work.State.RUNNING])

    def leased(self) -> WorkQuerySet:
        return self.filter(state=Work.State.RUNNING, lease_expires_at__gt=Now())

    def claimable(self) -> WorkQuerySet:
        """Work that waits (a failed attempt waits a little), and work whose worker is gone."""
        due = Q(lease_expires_at__isnull=True) | Q(lease_expires_at__lte=Now())
        return self.unfinished().filter(due)


class Work(models.Model):
    """One thing that a worker does, and who is at it.

    A worker takes it by one conditional update (queued, or its lease expired) and keeps it
    while ``owner`` is its token; a dead worker's work is taken over when the lease expires.
    """

    class State(models.TextChoices):
        QUEUED = "queued", _("Queued")
        RUNNING = "running", _("Running")
        DONE = "done", _("Done")
        FAILED = "failed", _("Failed")

    class ErrorClass(models.TextChoices):
        RATE = "rate", _("Rate")
        TRANSIENT = "transient", _("Transient")
        PERMANENT = "permanent", _("Permanent")
        PARSE = "parse", _("Parse")

    state = models.CharField(max_length=7, choices=State, default=State.QUEUED)
    attempts = models.PositiveSmallIntegerField(default=0)
    owner = models.UUIDField(null=True)
    lease_expires_at = models.DateTimeField(
        null=True, help_text="Running: when others may take over. Queued: not before."
    )
    usage = models.JSONField(default=dict)
    error_class = models.CharField(max_length=9, choices=ErrorClass, blank=True)
    error = FactField()
    finished_at = models.DateTimeField(null=True)

    class Meta:
        abstract = True
