"""How often somebody has tried in vain, and which workers are at work."""

from __future__ import annotations

from django.db import models


class Tries(models.Model):
    """Tries in vain that count together: of one account, of one address, of both.

    ``key`` is a keyed digest: the table names neither people nor what they typed for a name.
    """

    key = models.CharField(max_length=64, primary_key=True)
    failures = models.PositiveIntegerField(default=0)
    last_at = models.DateTimeField(db_index=True)
    until = models.DateTimeField(null=True, help_text="No try is looked at before")
    refused = models.BooleanField(default=False, help_text="Somebody was refused in this pause")

    class Meta:
        verbose_name_plural = "tries"

    def __str__(self) -> str:
        return f"{self.failures} tries in vain"


class WorkerPulse(models.Model):
    """When a worker was last seen at work."""

    name = models.CharField(max_length=200, primary_key=True)
    started_at = models.DateTimeField()
    seen_at = models.DateTimeField(db_index=True)

    def __str__(self) -> str:
        return self.name
