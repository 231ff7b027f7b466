from __future__ import annotations

from django.conf import settings
from django.db import models

from labeling.core.models.projects import Project


class ImportReport(models.Model):
    """What an import of chats found wrong in its files, and where each message came from.

    ``counts`` holds figures per file, ``faults`` one entry for each element that could not be
    used as it is (kind, file, place, text), ``dia_ids`` the published id of every localId.
    """

    project = models.ForeignKey(Project, models.CASCADE, related_name="import_reports")
    format = models.CharField(max_length=20)
    files = models.JSONField(default=list, help_text="Name and SHA-256 of each file")
    counts = models.JSONField(default=list)
    faults = models.JSONField(default=list)
    dia_ids = models.JSONField(default=dict, help_text="By conversation: dia_id of each localId")
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.PROTECT, null=True, related_name="+"
    )
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-pk"]

    def __str__(self) -> str:
        return f"{self.project}: {self.format} import {self.pk}"
