from __future__ import annotations

from uuid import uuid4

from django.conf import settings
from django.db import models
from django.db.models.functions import Now

from labeling.models.projects import Project


class Upload(models.Model):
    """A file between its preview and its confirmation, where every web server sees it.

    Its content is in parts, which are written and deleted a few at a time.
    """

    key = models.UUIDField(unique=True, default=uuid4, editable=False)
    project = models.ForeignKey(Project, models.CASCADE, related_name="+")
    by = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="+")
    purpose = models.CharField(max_length=20)
    name = models.TextField()
    size = models.BigIntegerField(default=0)
    is_complete = models.BooleanField(default=False)
    at = models.DateTimeField(db_default=Now(), db_index=True)

    class Meta:
        ordering = ["-pk"]

    def __str__(self) -> str:
        return f"{self.name}: {self.size} bytes"


class UploadPart(models.Model):
    upload = models.ForeignKey(Upload, models.CASCADE, related_name="parts", db_index=False)
    number = models.PositiveIntegerField()
    content = models.BinaryField(help_text="Compressed by zlib")

    class Meta:
        constraints = [
            models.UniqueConstraint(name="upload_part_once", fields=["upload", "number"])
        ]

    def __str__(self) -> str:
        return f"part {self.number} of {self.upload_id}"
