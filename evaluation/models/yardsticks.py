from __future__ import annotations

from django.db import models

from labeling.core.models.fields import FactField
from labeling.models import GoldItem, GoldRelease


class YardstickQuerySet(models.QuerySet["Yardstick"]):
    def tried(self) -> YardstickQuerySet:
        """Measured, or known to fail; of the others, cases are missing."""
        return self.filter(computed_at__isnull=False)

    def measured(self) -> YardstickQuerySet:
        return self.tried().filter(failure=None)


class Yardstick(models.Model):
    """What a trivial pipeline, or people, score on every case of a release.

    It depends on the gold and on how it is measured, not on any run, so it is computed once.
    """

    release = models.ForeignKey(GoldRelease, models.CASCADE, related_name="yardsticks")
    settings_sha256 = models.CharField(
        max_length=64, help_text="Of what scoring depends on in addition to the labels"
    )
    pipeline = models.CharField(max_length=100, blank=True, help_text="Empty: people")
    pipeline_version = models.CharField(max_length=100, blank=True)
    config = models.JSONField(default=dict)
    config_sha256 = models.CharField(max_length=64)
    failure = FactField(help_text="Why there are no figures")
    computed_at = models.DateTimeField(null=True, help_text="NULL: cases are missing")

    objects = YardstickQuerySet.as_manager()

    class Meta:
        ordering = ["release", "pk"]
        constraints = [
            models.UniqueConstraint(
                name="yardstick_once",
                fields=[
                    *("release", "settings_sha256", "pipeline"),
                    *("pipeline_version", "config_sha256"),
                ],
            )
        ]

    def __str__(self) -> str:
        return f"{self.pipeline or 'people'} on {self.release}"

    @property
    def is_measured(self) -> bool:
        return self.computed_at is not None and self.failure is None


class YardstickCase(models.Model):
    """One case: by metric, what it adds to numerator and denominator of the figure."""

    yardstick = models.ForeignKey(Yardstick, models.CASCADE, related_name="cases")
    item = models.ForeignKey(GoldItem, models.CASCADE, related_name="+")
    part = models.CharField(max_length=100, blank=True)
    shares = models.JSONField(default=dict, help_text="Against gold; undefined ones have no key")
    by_person = models.JSONField(
        default=dict, help_text="Against gold made without each person's labels, by metric"
    )
    gold_without = models.JSONField(
        default=dict, help_text="Of people: the gold made without each person's labels"
    )

    class Meta:
        ordering = ["yardstick", "pk"]
        constraints = [
            models.UniqueConstraint(
                name="yardstick_case_once", fields=["yardstick", "item", "part"]
            )
        ]

    def __str__(self) -> str:
        return f"{self.item_id}:{self.part}"
