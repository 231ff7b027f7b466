from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import Q

from evaluation.models.runs import CaseRun


class Rating(models.Model):
    """What one judge says of one predicted label: 2 definitely needed, 1 recommended, 0 not.

    A rating may be changed until somebody closes the rating of the run; the last one counts.
    """

    case = models.ForeignKey(CaseRun, models.CASCADE, related_name="ratings")
    position = models.PositiveIntegerField(help_text="Of the label in the case's output, from 0")
    judge = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")
    score = models.PositiveSmallIntegerField()
    note = models.TextField(blank=True)
    rated_at = models.DateTimeField(auto_now=True)

    class Meta:
        ordering = ["case", "position", "judge"]
        constraints = [
            models.UniqueConstraint(
                name="rating_once_per_judge", fields=["case", "position", "judge"]
            ),
            models.CheckConstraint(
                name="rating_score_known",
                condition=Q(score__in=[0, 1, 2]),
                violation_error_message="A rating is 0, 1 or 2.",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.score} for {self.position} of case {self.case_id}"
