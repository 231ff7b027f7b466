from __future__ import annotations

from django.conf import settings
from django.db import models

from labeling.core.models.projects import Project


class Pseudonym(models.Model):
    """What gold of a project calls a person. Insert only: releases name it for ever."""

    project = models.ForeignKey(Project, models.PROTECT, related_name="pseudonyms")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")
    number = models.PositiveIntegerField()

    class Meta:
        ordering = ["project", "number"]
        constraints = [
            models.UniqueConstraint(name="pseudonym_once_per_person", fields=["project", "user"]),
            models.UniqueConstraint(name="pseudonym_number_once", fields=["project", "number"]),
        ]

    def __str__(self) -> str:
        return f"{self.user} is annotator-{self.number} in {self.project}"
