from __future__ import annotations

import uuid
from typing import Any

from django.conf import settings
from django.db import models
from django.db.models import Exists, OuterRef, Q
from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from evaluation.models.runs import CaseRun, Run
from labeling.models import Membership, Project


class RatingKind(models.TextChoices):
    """What is asked of people: how much an inferred requirement is needed, or, of an answer, the
    same as of a judge."""

    NEED = "need", _("Need")
    FAITHFULNESS = "faithfulness", _("Faithfulness")
    RELEVANCE = "relevance", _("Relevance")
    COMPLETENESS = "completeness", _("Completeness")
    CORRECTNESS = "correctness", _("Correctness")

    @property
    def highest(self) -> int:
        return 2 if self == RatingKind.NEED else 10


class PanelQuerySet(models.QuerySet["RatingPanel"]):
    def to_rate_by(self, user: Any) -> PanelQuerySet:
        """Of projects where the user is lead or researcher, or is an annotator and invited."""
        reading = Project.objects.with_role(user, Membership.Role.LEAD, Membership.Role.RESEARCHER)
        member = Project.objects.with_role(user, Membership.Role.ANNOTATOR)
        invited = Q(pk__in=RatingPanel.objects.filter(invited=user).values("pk"))
        return self.filter(
            Q(run__release__project__in=reading) | invited & Q(run__release__project__in=member)
        )

    def waiting_for(self, user: Any) -> PanelQuerySet:
        """Those with something that the user may rate, and has not yet."""
        left = RatedPlace.objects.filter(sample__panel=OuterRef("pk"), sample__closed_at=None)
        return self.to_rate_by(user).filter(Exists(left.not_rated_by(user)))


class RatingPanel(models.Model):
    """The rating of one run by people who know nothing about it.

    They know it by its ``code``, which reveals nothing about the pipeline. What there is to rate is
    in its samples.
    """

    run = models.OneToOneField(Run, models.CASCADE, related_name="panel")
    code = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    invited = models.ManyToManyField(settings.AUTH_USER_MODEL, blank=True, related_name="+")
    opened_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.PROTECT, null=True, related_name="+"
    )
    opened_at = models.DateTimeField(auto_now_add=True)

    objects = PanelQuerySet.as_manager()

    class Meta:
        ordering = ["-pk"]

    def __str__(self) -> str:
        return f"rating {self.pk}"

    def get_absolute_url(self) -> str:
        return reverse("rating", args=[self.code])


class RatingSample(models.Model):
    """What people rate in one respect: drawn before anybody had, of answers by lot.

    Which places are in it never changes (triggers). It is open until somebody closes it or gives it
    up; from then on its ratings are frozen, and those of a closed one count.
    """

    panel = models.ForeignKey(RatingPanel, models.CASCADE, related_name="samples")
    kind = models.CharField(max_length=12, choices=RatingKind)
    seed = models.PositiveBigIntegerField(help_text="That it was drawn with")
    drawn_from = models.PositiveIntegerField(help_text="How many places could have been drawn")
    drawn_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.PROTECT, null=True, related_name="+"
    )
    drawn_at = models.DateTimeField(auto_now_add=True)
    closed_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.PROTECT, null=True, related_name="+"
    )
    closed_at = models.DateTimeField(null=True)
    given_up = models.BooleanField(default=False, help_text="Its ratings count for nothing")
    reason = models.TextField(
        blank=True, help_text="Why it was given up, or why few of its answers have two raters"
    )

    class Meta:
        ordering = ["pk"]
        constraints = [
            models.CheckConstraint(
                name="sample_kind_known", condition=Q(kind__in=RatingKind.values)
            ),
            models.CheckConstraint(
                name="sample_given_up_is_closed",
                condition=Q(given_up=False) | Q(closed_at__isnull=False),
            ),
            models.UniqueConstraint(
                name="sample_one_open",
                fields=["panel", "kind"],
                condition=Q(closed_at__isnull=True),
            ),
        ]

    def __str__(self) -> str:
        return f"sample {self.pk} for {self.kind}"


class PlaceQuerySet(models.QuerySet["RatedPlace"]):
    def rated_by(self, user: Any) -> PlaceQuerySet:
        return self.filter(Exists(Rating.objects.of_place().filter(rater=user)))

    def not_rated_by(self, user: Any) -> PlaceQuerySet:
        return self.exclude(Exists(Rating.objects.of_place().filter(rater=user)))


class RatedPlace(models.Model):
    """One thing of a sample: a label of a case's output by its position, or the case's answer.

    ``number`` runs through all samples of the panel, in the order in which people rate.
    """

    sample = models.ForeignKey(RatingSample, models.CASCADE, related_name="places")
    number = models.PositiveIntegerField()
    case = models.ForeignKey(CaseRun, models.CASCADE, related_name="+")
    position = models.PositiveIntegerField(default=0, help_text="Of the label, from 0")

    objects = PlaceQuerySet.as_manager()

    class Meta:
        ordering = ["sample", "number"]
        constraints = [
            models.UniqueConstraint(name="rated_place_once", fields=["sample", "case", "position"]),
            models.UniqueConstraint(name="rated_number_once", fields=["sample", "number"]),
        ]

    def __str__(self) -> str:
        return f"{self.number} of sample {self.sample_id}"


class RatingQuerySet(models.QuerySet["Rating"]):
    def of_place(self) -> RatingQuerySet:
        """For a subquery of ``RatedPlace``."""
        place = {name: OuterRef(name) for name in ("case", "position")}
        return self.filter(kind=OuterRef("sample__kind"), **place)

    def of_panel(self, panel: RatingPanel) -> RatingQuerySet:
        return self.filter(case__run=panel.run_id).order_by()


class Rating(models.Model):
    """What one person says of one label or answer; the last word counts.

    Until its sample is closed: then it is frozen (triggers).
    """

    case = models.ForeignKey(CaseRun, models.CASCADE, related_name="ratings")
    kind = models.CharField(max_length=12, choices=RatingKind)
    position = models.PositiveIntegerField(default=0, help_text="Of the label, from 0")
    rater = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")
    score = models.PositiveSmallIntegerField()
    note = models.TextField(blank=True)
    rated_at = models.DateTimeField(auto_now=True)
    frozen = models.BooleanField(default=False, help_text="Its sample is closed")

    objects = RatingQuerySet.as_manager()

    class Meta:
        verbose_name, verbose_name_plural = _("rating"), _("ratings")
        ordering = ["case", "kind", "position", "rater"]
        constraints = [
            models.UniqueConstraint(
                name="rating_once_per_rater", fields=["case", "kind", "position", "rater"]
            ),
            models.CheckConstraint(
                name="rating_kind_known", condition=Q(kind__in=RatingKind.values)
            ),
            models.CheckConstraint(
                name="rating_in_range",
                condition=Q(score__lte=2) | ~Q(kind="need") & Q(score__lte=10),
                violation_error_message="A rating is 0, 1 or 2; of an answer, 0 to 10.",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.score} for {self.kind} of case {self.case_id}"
