from __future__ import annotations

from django.db import models

from evaluation.models.runs import Run


class RunSpending(models.Model):
    """What language models were asked for a run, and what it cost: the sum over its calls.

    It changes in the transaction that stores the usage of a piece of work, so it is never behind. A
    run without a row has asked nothing.
    """

    run = models.OneToOneField(Run, models.CASCADE, primary_key=True, related_name="spending")
    usage = models.JSONField(default=dict, help_text="By the names of Spent, in full")

    class Meta:
        verbose_name = verbose_name_plural = "spending"

    def __str__(self) -> str:
        return f"spending of run {self.run_id}"
