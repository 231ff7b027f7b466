from __future__ import annotations

from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from evaluation.models.runs import CaseRun


class StageTrace(models.Model):
    """The messages of a retrieval pipeline at one checkpoint of one case.

    ``candidates`` is what was found at all, ``reranked`` what the ranking kept, ``selected`` what
    was answered. Ids are localIds, best first.
    """

    class Checkpoint(models.TextChoices):
        CANDIDATES = "candidates", _("candidate generation")
        RERANKED = "reranked", _("re-ranking")
        SELECTED = "selected", _("final selection")

    case = models.ForeignKey(CaseRun, models.CASCADE, related_name="traces")
    checkpoint = models.CharField(max_length=10, choices=Checkpoint)
    set_size = models.PositiveIntegerField(help_text="How many ids the checkpoint held")
    corpus_size = models.PositiveIntegerField(help_text="How many messages there were to choose")
    present = models.JSONField(default=list, help_text="Expected ids that are in the set")
    ids = models.JSONField(null=True, help_text="All ids, best first; NULL in a minimal trace")
    scores = models.JSONField(null=True, help_text="Their scores; NULL where there are none")

    class Meta:
        ordering = ["case", "pk"]
        constraints = [
            models.UniqueConstraint(name="trace_once", fields=["case", "checkpoint"]),
            models.CheckConstraint(
                name="trace_checkpoint_known",
                condition=Q(checkpoint__in=["candidates", "reranked", "selected"]),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.checkpoint} of case {self.case_id}"
