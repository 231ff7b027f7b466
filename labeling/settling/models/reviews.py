from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from labeling.work.models.annotations import Annotation


class Review(models.Model):
    """A reviewer's verdict on one submitted answer. Append-only; the newest one counts."""

    class Verdict(models.TextChoices):
        ACCEPTED = "accepted", _("Accepted")
        FIXED = "fixed", _("fixed and accepted")  # ``payload`` holds the corrected labels
        RETURNED = "returned", _("returned with a comment")

    annotation = models.ForeignKey(Annotation, models.PROTECT, related_name="reviews")
    version = models.PositiveIntegerField(help_text="The version of the annotation it is about")
    verdict = models.CharField(max_length=8, choices=Verdict)
    payload = models.JSONField(null=True)
    comment = models.TextField(blank=True)
    reviewer = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="reviews")
    reviewed_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["annotation", "pk"]
        constraints = [
            models.CheckConstraint(
                name="review_verdict_known",
                condition=Q(verdict__in=["accepted", "fixed", "returned"]),
            ),
            models.CheckConstraint(
                name="review_return_says_why",
                condition=~Q(verdict="returned") | ~Q(comment=""),
                violation_error_message="Say what has to change.",
            ),
            models.CheckConstraint(
                name="review_fix_has_labels",
                condition=Q(verdict="fixed", payload__isnull=False)
                | (~Q(verdict="fixed") & Q(payload__isnull=True)),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.annotation}: {self.verdict}"
