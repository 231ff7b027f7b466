from __future__ import annotations

from django.db import models

from evaluation.models.runs import Run
from labeling.models import WorkerPulse


class Slot(models.Model):
    """A thread of a worker that is at work on a run: one of as many as the run's concurrency.

    What the thread leases has the same ``owner``. So everything that a worker held is known when
    its pulse stops, and others take it over without waiting for the end of leases.
    """

    run = models.ForeignKey(Run, models.CASCADE, related_name="slots")
    number = models.PositiveSmallIntegerField(help_text="From 1; above the concurrency: leaves")
    owner = models.UUIDField(unique=True)
    worker = models.ForeignKey(WorkerPulse, models.CASCADE, related_name="+")
    taken_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["run", "number"]
        constraints = [
            models.UniqueConstraint(name="slot_once", fields=["run", "number"]),
        ]

    def __str__(self) -> str:
        return f"slot {self.number} of run {self.run_id}"
