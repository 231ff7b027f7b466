from __future__ import annotations

from django.db import models

from evaluation.models.runs import Run


class RunTag(models.Model):
    """A word by which people find a run again. Who set it and when is in the log of events."""

    run = models.ForeignKey(Run, models.CASCADE, related_name="tags")
    tag = models.CharField(max_length=40)

    class Meta:
        ordering = ["run", "tag"]
        constraints = [models.UniqueConstraint(name="run_tag_once", fields=["run", "tag"])]
        indexes = [models.Index(name="runs_of_tag", fields=["tag", "run"])]

    def __str__(self) -> str:
        return f"{self.tag} of run {self.run_id}"


class RunNote(models.Model):
    """What people write down about a run; earlier texts are in the log of events."""

    run = models.OneToOneField(Run, models.CASCADE, related_name="note")
    text = models.TextField()

    def __str__(self) -> str:
        return f"note of run {self.run_id}"
