from __future__ import annotations

from django.conf import settings
from django.db import models
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from labeling.core.models.projects import Project
from labeling.gold.models.gold import GoldRelease


class Look(models.Model):
    """One look at the test items of a release: who, when, at what, why. Insert only (triggers)."""

    class Purpose(models.TextChoices):
        LABELS = "labels", _("Read the labels")
        EXPORT = "export", _("Take the items along")
        RUN = "run", _("Measure a pipeline")
        RESULTS = "results", _("Read results")
        COMPARE = "compare", _("Compare runs")

    class Subject(models.TextChoices):
        """What the person was about to see; ``named`` says which."""

        RELEASE = "release", _("the release")
        ITEM = "item", _("item")
        RUN = "run", _("run")
        RUNS = "runs", _("runs")

    release = models.ForeignKey(GoldRelease, models.PROTECT, related_name="looks")
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        models.PROTECT,
        null=True,
        related_name="+",
        help_text="Empty: somebody at the command line",
    )
    purpose = models.CharField(max_length=7, choices=Purpose)
    reason = models.TextField(
        blank=True, help_text="Empty: a run of older versions, which asked for none"
    )
    subject = models.CharField(max_length=7, choices=Subject, default=Subject.RELEASE)
    named = models.CharField(max_length=250, blank=True)
    n_items = models.PositiveIntegerField(help_text="How many test items could be seen")
    at = models.DateTimeField(default=timezone.now)

    class Meta:
        verbose_name, verbose_name_plural = _("look at test items"), _("looks at test items")
        ordering = ["-pk"]
        indexes = [
            models.Index(name="look_of_release", fields=["release", "purpose"]),
            models.Index(name="look_of_user", fields=["user", "purpose"]),
        ]
        constraints = [
            models.CheckConstraint(
                name="look_purpose_known",
                condition=models.Q(purpose__in=["labels", "export", "run", "results", "compare"]),
            ),
        ]

    def __str__(self) -> str:
        return f"look at the test items of {self.release}"


class LookBudget(models.Model):
    """How often test items might be looked at, until 0.6.0. What was set stays on record."""

    project = models.ForeignKey(Project, models.PROTECT, related_name="look_budgets")
    looks = models.PositiveIntegerField(null=True, help_text="Empty: no limit")
    reason = models.TextField()
    by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, null=True, related_name="+")
    at = models.DateTimeField(default=timezone.now)

    class Meta:
        verbose_name, verbose_name_plural = _("budget of looks"), _("budgets of looks")
        ordering = ["-pk"]

    def __str__(self) -> str:
        return f"{self.project}: {'no limit' if self.looks is None else self.looks} looks"
