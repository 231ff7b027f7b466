from __future__ import annotations

from django.conf import settings
from django.db import models

from evaluation.models.runs import Run
from labeling.models import GoldRelease


class SplitAccess(models.Model):
    """One look at the test split: who, when, why. Append-only (triggers), counted in reports."""

    release = models.ForeignKey(GoldRelease, models.PROTECT, related_name="test_accesses")
    run = models.OneToOneField(Run, models.PROTECT, related_name="test_access")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, null=True, related_name="+")
    reason = models.TextField(blank=True, help_text="Empty: the run took every split")
    n_items = models.PositiveIntegerField(help_text="How many test items were looked at")
    at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-pk"]
        verbose_name_plural = "split accesses"

    def __str__(self) -> str:
        return f"test split of {self.release} by run {self.run_id}"
