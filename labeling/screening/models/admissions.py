"""Who may do full labeling, layer by layer, and why."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from labeling.core.models.projects import Project
from labeling.work.models.rounds import Round


class Admission(models.Model):
    """One person may do full labeling on one layer of a project.

    ``calibrated_at`` is NULL while they have not calibrated on it: their answers of full labeling
    from before it say so in gold.
    """

    class How(models.TextChoices):
        ROUND = "round", _("took part in a passed calibration round")
        CALIBRATED = "calibrated", _("calibrated against a closed round")
        LET_IN = "let_in", _("let in by a lead")
        UNMEASURED = "unmeasured", _("nobody used the layer in the calibration")
        EARLIER = "earlier", _("worked here before newcomers had to calibrate")

    project = models.ForeignKey(Project, models.CASCADE, related_name="admissions")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="admissions")
    layer = models.CharField(max_length=20)
    how = models.CharField(max_length=10, choices=How)
    round = models.ForeignKey(
        Round, models.PROTECT, null=True, related_name="+", help_text="The passed round"
    )
    reason = models.TextField(blank=True, help_text="Why a lead let the person in")
    let_in_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.PROTECT, null=True, related_name="+"
    )
    at = models.DateTimeField(auto_now_add=True)
    calibrated_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["project", "user__username", "layer"]
        constraints = [
            models.UniqueConstraint(
                name="admission_once_per_layer", fields=["project", "user", "layer"]
            ),
            models.CheckConstraint(
                name="admission_let_in_with_reason",
                condition=~Q(how="let_in") | (~Q(reason="") & Q(let_in_by__isnull=False)),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.user} on {self.layer} of {self.project}"
