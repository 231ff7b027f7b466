from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from evaluation.models.runs import Run
from labeling.models import GoldRelease, Project


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
        verbose_name, verbose_name_plural = _("run thresholds"), _("run thresholds")

    def __str__(self) -> str:
        return f"gate of {self.project}"


class PrimaryMetric(models.Model):
    """Which metric decides comparisons of a layer, from then on. Append-only (triggers)."""

    project = models.ForeignKey(Project, models.CASCADE, related_name="primary_metrics")
    layer = models.CharField(max_length=20)
    metric = models.CharField(max_length=100)
    margin = models.FloatField(
        help_text="The smallest difference of interest, as a share of the metric's range"
    )
    by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, null=True, related_name="+")
    at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-pk"]
        constraints = [
            models.CheckConstraint(
                name="primary_margin_is_a_share", condition=Q(margin__gt=0, margin__lt=1)
            )
        ]

    def __str__(self) -> str:
        return f"{self.metric} decides {self.layer} of {self.project}"


class ChosenBaseline(models.Model):
    """What runs on a release and split are measured against, from then on. Append-only."""

    release = models.ForeignKey(GoldRelease, models.PROTECT, related_name="chosen_baselines")
    split = models.CharField(max_length=5, blank=True, help_text="As in the run")
    run = models.ForeignKey(
        Run, models.PROTECT, null=True, related_name="+", help_text="Empty: none any more"
    )
    by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, null=True, related_name="+")
    at = models.DateTimeField(auto_now_add=True)

    class Meta:
        verbose_name, verbose_name_plural = _("baseline"), _("baselines")
        ordering = ["-pk"]
        indexes = [models.Index(name="baselines_of_gold", fields=["release", "split", "id"])]

    def __str__(self) -> str:
        return f"baseline of {self.release_id}: {self.run_id or 'none'}"


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
        verbose_name, verbose_name_plural = _("gate decision"), _("gate decisions")
        ordering = ["-pk"]

    def __str__(self) -> str:
        return f"run {self.run_id} {'passed' if self.passed else 'failed'}"
