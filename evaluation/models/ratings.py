from __future__ import annotations

import uuid
from typing import Any

from django.conf import settings
from django.db import models
from django.db.models import F, Q
from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from evaluation.models.runs import CaseRun, Run
from labeling.models import Membership, Project


class PanelQuerySet(models.QuerySet[Any]):
    def to_rate_by(self, user: Any) -> PanelQuerySet:
        """Of projects where the user is lead or researcher, or is an annotator and invited."""
        reading = Project.objects.with_role(user, Membership.Role.LEAD, Membership.Role.RESEARCHER)
        member = Project.objects.with_role(user, Membership.Role.ANNOTATOR)
        invited = Q(pk__in=self.model._default_manager.filter(invited=user).values("pk"))
        return self.filter(
            Q(run__release__project__in=reading) | invited & Q(run__release__project__in=member)
        )


class RatingPanel(models.Model):
    """The rating of what one run inferred: opened by a lead, done by judges, closed by a lead.

    Judges know it by its ``code``, which reveals nothing about the pipeline. Closing is final: from
    then on no rating changes (triggers), so that the figures built on them stay as they are.
    """

    run = models.OneToOneField(Run, models.CASCADE, related_name="panel")
    code = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    n_labels = models.PositiveIntegerField(help_text="How many labels there are to rate")
    invited = models.ManyToManyField(settings.AUTH_USER_MODEL, blank=True, related_name="+")
    opened_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.PROTECT, null=True, related_name="+"
    )
    opened_at = models.DateTimeField(auto_now_add=True)
    closed_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.PROTECT, null=True, related_name="+"
    )
    closed_at = models.DateTimeField(null=True)
    changes = models.PositiveIntegerField(
        default=0, help_text="How often ratings of whole cases changed"
    )
    counted = models.PositiveIntegerField(
        default=0, help_text="How many of these changes the run's figures take account of"
    )

    objects = PanelQuerySet.as_manager()

    class Meta:
        ordering = ["-pk"]
        constraints = [
            models.CheckConstraint(
                name="rating_panel_counts_what_changed", condition=Q(counted__lte=F("changes"))
            ),
        ]

    def __str__(self) -> str:
        return f"rating {self.pk}"

    def get_absolute_url(self) -> str:
        return reverse("rating", args=[self.code])

    @property
    def is_stale(self) -> bool:
        """Whether the run's figures do not yet take account of every rating."""
        return self.counted < self.changes


class RatedLabel(models.Model):
    """One label to rate. Numbered, so that any page of thousands is one short query."""

    panel = models.ForeignKey(RatingPanel, models.CASCADE, related_name="labels")
    number = models.PositiveIntegerField()
    case = models.ForeignKey(CaseRun, models.CASCADE, related_name="+")
    position = models.PositiveIntegerField(help_text="Of the label in the case's output, from 0")

    class Meta:
        ordering = ["panel", "number"]
        constraints = [
            models.UniqueConstraint(name="rated_label_number_once", fields=["panel", "number"]),
            models.UniqueConstraint(name="rated_label_once", fields=["case", "position"]),
        ]

    def __str__(self) -> str:
        return f"{self.number} of rating {self.panel_id}"


class Rating(models.Model):
    """What one judge says of one predicted label: 2 definitely needed, 1 recommended, 0 not.

    A rating may be changed until somebody closes the rating of the run; the last one counts.
    From then on it is frozen (triggers).
    """

    case = models.ForeignKey(CaseRun, models.CASCADE, related_name="ratings")
    position = models.PositiveIntegerField(help_text="Of the label in the case's output, from 0")
    judge = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")
    score = models.PositiveSmallIntegerField()
    note = models.TextField(blank=True)
    rated_at = models.DateTimeField(auto_now=True)
    frozen = models.BooleanField(default=False, help_text="The rating of the run is closed")

    class Meta:
        verbose_name, verbose_name_plural = _("rating of a label"), _("ratings of labels")
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
