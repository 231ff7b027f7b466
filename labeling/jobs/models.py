from __future__ import annotations

from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from labeling.accounts.models import WorkerPulse

FREE = Q(lease_expires_at=None) | Q(lease_expires_at__lte=Now())


class JobQuerySet(models.QuerySet["Job"]):
    """Leases are compared with the database's clock: those of workers may differ by hours."""

    def free(self) -> JobQuerySet:
        return self.filter(FREE)

    def held(self) -> JobQuerySet:
        return self.filter(owner__isnull=False, lease_expires_at__gt=Now())


class Job(models.Model):
    """Something that somebody is at, or that waits for a worker; done, the row is gone.

    What there is to do is in the rows that ``key`` names. ``attempts`` are those that failed or
    died: a lease that ran out proves nothing, because a clock may have been set.
    """

    kind = models.CharField(max_length=20)
    key = models.PositiveBigIntegerField()
    asked_at = models.DateTimeField(auto_now_add=True)
    owner = models.UUIDField(null=True)
    worker = models.ForeignKey(WorkerPulse, models.SET_NULL, null=True, related_name="+")
    lease_expires_at = models.DateTimeField(
        null=True, help_text="Held: when others may take over. Free: not before."
    )
    attempts = models.PositiveSmallIntegerField(default=0)

    objects = JobQuerySet.as_manager()

    class Meta:
        ordering = ["asked_at", "pk"]
        constraints = [models.UniqueConstraint(name="job_once", fields=["kind", "key"])]

    def __str__(self) -> str:
        return f"{self.kind} {self.key}"
