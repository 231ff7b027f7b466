from __future__ import annotations

from django.db import models

from evaluation.models.runs import Run


class RunNote(models.Model):
    """What people write down about a run; earlier texts are in the log of events."""

    run = models.OneToOneField(Run, models.CASCADE, related_name="note")
    text = models.TextField()

    def __str__(self) -> str:
        return f"note of run {self.run_id}"
