from __future__ import annotations

from django.db import models
from django.db.models import Q

from labeling.models import GoldRelease
from labeling.models.fields import FactField


class HumanCeiling(models.Model):
    """How well people do by one metric: each annotator's labels scored against each other's.

    It depends on the gold, the split and how labels are matched, not on any run, so that it is
    computed once for all runs that share these.
    """

    release = models.ForeignKey(GoldRelease, models.CASCADE, related_name="ceilings")
    split = models.CharField(max_length=5, blank=True, help_text="Empty: every split")
    settings_sha256 = models.CharField(
        max_length=64, help_text="Of what scoring depends on beside the labels"
    )
    metric = models.CharField(max_length=60)
    metric_version = models.PositiveSmallIntegerField()
    mean = models.FloatField(null=True)
    ci_low = models.FloatField(null=True)
    ci_high = models.FloatField(null=True)
    n = models.PositiveIntegerField(help_text="Cases that two or more people labelled")
    n_undefined = models.PositiveIntegerField()
    reason = FactField(help_text="Why there is no value")
    detail = models.JSONField(default=dict, help_text="By pair of people, and against gold")
    computed_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["release", "split", "pk"]
        constraints = [
            models.UniqueConstraint(
                name="ceiling_once",
                fields=["release", "split", "settings_sha256", "metric", "metric_version"],
            ),
            models.CheckConstraint(
                name="ceiling_undefined_has_reason",
                condition=Q(mean__isnull=False) | Q(reason__isnull=False),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.metric} of people on {self.release}"
