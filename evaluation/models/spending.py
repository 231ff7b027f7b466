from __future__ import annotations

from django.db import models

from evaluation.models.runs import Run


class RunSpending(models.Model):
    """What language models were asked for a run, and what it cost: the sum over its pieces of work.

    It changes in the transaction that stores the usage of a piece, so it is never behind. A run
    without a row has asked nothing.
    """

    run = models.OneToOneField(Run, models.CASCADE, primary_key=True, related_name="spending")
    calls = models.FloatField(default=0)
    cached = models.FloatField(default=0)
    prompt_tokens = models.FloatField(default=0)
    completion_tokens = models.FloatField(default=0)
    cost = models.FloatField(default=0)
    seconds = models.FloatField(default=0)
    unpriced = models.IntegerField(
        default=0, help_text="Pieces of work of which the cost is unknown"
    )
    estimated = models.IntegerField(
        default=0, help_text="Pieces of work of which some tokens are our estimate"
    )
    cached_tokens = models.FloatField(
        default=0, help_text="Of the prompts, what the provider had kept from before"
    )
    reasoning_tokens = models.FloatField(default=0)
    schema_by = models.JSONField(
        default=list, help_text="How schemas were asked for where the server took no strict ones"
    )
    served_by = models.JSONField(
        default=list, help_text="The models that replied, as the server named them"
    )

    class Meta:
        verbose_name = verbose_name_plural = "spending"

    def __str__(self) -> str:
        return f"spending of run {self.run_id}"
