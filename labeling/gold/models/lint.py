from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import Q

from labeling.conversations.models.conversations import Conversation
from labeling.core.models.fields import FactField
from labeling.core.models.projects import Project
from labeling.gold.rules.lint import TITLES


class LintWaiver(models.Model):
    """Findings that may be frozen, with the reason. Insert only (trigger); another row ends it.

    It covers the findings with these ``keys`` and no other: what is found later asks again. With
    ``withdraws`` it covers nothing and ends that waiver. ``by`` is empty for commands.
    """

    project = models.ForeignKey(Project, models.PROTECT, related_name="lint_waivers")
    layer = models.CharField(max_length=20)
    kind = models.CharField(max_length=30)
    keys = models.JSONField(default=list, help_text="Keys of the findings that it covers")
    number = models.PositiveIntegerField(help_text="How many findings it covers")
    reason = models.TextField()
    withdraws = models.OneToOneField("self", models.PROTECT, null=True, related_name="withdrawn_by")
    by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, null=True, related_name="+")
    at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-pk"]
        constraints = [
            models.CheckConstraint(name="lint_waiver_has_reason", condition=~Q(reason="")),
        ]

    def __str__(self) -> str:
        return f"{self.kind} of {self.project} {self.layer}"

    @property
    def title(self) -> str:
        return TITLES.get(self.kind, self.kind)

    @property
    def ended(self) -> LintWaiver | None:
        """The row that withdraws this one."""
        return getattr(self, "withdrawn_by", None)


class LintReport(models.Model):
    """What lint found the last time, of one layer of a project. The next report replaces it."""

    project = models.ForeignKey(Project, models.CASCADE, related_name="lint_reports")
    layer = models.CharField(max_length=20)
    items = models.PositiveIntegerField(help_text="Items that would have been frozen")
    by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, null=True, related_name="+")
    at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-pk"]
        constraints = [
            models.UniqueConstraint(name="lint_report_once", fields=["project", "layer"])
        ]

    def __str__(self) -> str:
        return f"{self.project} {self.layer}"


class LintFinding(models.Model):
    """One finding of a report. It is accepted if a waiver that holds has its key."""

    report = models.ForeignKey(LintReport, models.CASCADE, related_name="findings")
    kind = models.CharField(max_length=30)
    key = models.CharField(max_length=20)
    fact = FactField()
    conversation = models.ForeignKey(Conversation, models.CASCADE, null=True, related_name="+")
    other = models.ForeignKey(Conversation, models.CASCADE, null=True, related_name="+")

    class Meta:
        ordering = ["report", "kind", "pk"]
        constraints = [models.UniqueConstraint(name="lint_finding_once", fields=["report", "key"])]
        indexes = [models.Index(name="lint_finding_of_kind", fields=["report", "kind", "id"])]

    def __str__(self) -> str:
        return f"{self.kind} {self.key}"
