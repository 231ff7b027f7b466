from __future__ import annotations

from django.conf import settings
from django.db import models

from labeling.core.models.projects import Project


class LintReport(models.Model):
    """What lint found the last time, of one layer of a project. The next report replaces it.

    ``findings`` are rows of kind, fact and the key of a conversation, if it is about one.
    """

    project = models.ForeignKey(Project, models.CASCADE, related_name="lint_reports")
    layer = models.CharField(max_length=20)
    items = models.PositiveIntegerField(help_text="Items that would have been frozen")
    findings = models.JSONField(default=list)
    by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, null=True, related_name="+")
    at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-pk"]
        constraints = [
            models.UniqueConstraint(name="lint_report_once", fields=["project", "layer"])
        ]

    def __str__(self) -> str:
        return f"{self.project} {self.layer}"
