from __future__ import annotations

from django.conf import settings
from django.db import models

from evaluation.models.runs import Run
from labeling.models import Project


class GateThresholds(models.Model):
    """What a project asks of a run, where that differs from the product's defaults."""

    project = models.OneToOneField(Project, models.CASCADE, related_name="gate_thresholds")
    thresholds = models.JSONField(
        default=dict, help_text="{metric: number}; null where a default does not hold"
    )
    max_drop = models.FloatField(null=True, help_text="Against a baseline; empty: the default")
    changed_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.PROTECT, null=True, related_name="+"
    )
    changed_at = models.DateTimeField(auto_now=True)

    class Meta:
        verbose_name_plural = "gate thresholds"

    def __str__(self) -> str:
        return f"gate of {self.project}"


class GateResult(models.Model):
    """One look whether a run is good enough. Append-only (triggers)."""

    run = models.ForeignKey(Run, models.CASCADE, related_name="gate_results")
    baseline = models.ForeignKey(Run, models.PROTECT, null=True, related_name="+")
    passed = models.BooleanField()
    checks = models.JSONField(help_text="Every threshold and every drop that was looked at")
    asked_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.PROTECT, null=True, related_name="+"
    )
    at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-pk"]

    def __str__(self) -> str:
        return f"run {self.run_id} {'passed' if self.passed else 'failed'}"
