from __future__ import annotations

import uuid

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.urls import reverse

from evaluation.models.answers import Answer, Kind
from evaluation.models.ratings import PanelQuerySet
from evaluation.models.runs import Run
from labeling.models import Project


class AnswerPanel(models.Model):
    """The rating of the answers of one run, by people who know nothing about it.

    They know it by its ``code``. What there is to rate are the answers of its samples.
    """

    run = models.OneToOneField(Run, models.CASCADE, related_name="answer_panel")
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
        return f"rating {self.pk} of answers"

    def get_absolute_url(self) -> str:
        return reverse("answer-rating", args=[self.code])


class AnswerSample(models.Model):
    """Answers of one run that were drawn for people to rate in one respect, before anybody had.

    Which they are never changes (triggers). It is open until somebody closes it, which needs that
    all of it is rated, or gives it up; from then on its ratings are frozen.
    """

    panel = models.ForeignKey(AnswerPanel, models.CASCADE, related_name="samples")
    kind = models.CharField(max_length=12, choices=Kind)
    seed = models.PositiveBigIntegerField(help_text="That the answers were drawn with")
    drawn_from = models.PositiveIntegerField(help_text="How many answers could have been drawn")
    drawn_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.PROTECT, null=True, related_name="+"
    )
    drawn_at = models.DateTimeField(auto_now_add=True)
    closed_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.PROTECT, null=True, related_name="+"
    )
    closed_at = models.DateTimeField(null=True)
    given_up = models.BooleanField(default=False, help_text="Closed before all of it was rated")
    reason = models.TextField(
        blank=True, help_text="Why it was given up, or why few of its answers have two raters"
    )

    class Meta:
        ordering = ["pk"]
        constraints = [
            models.CheckConstraint(name="sample_kind_known", condition=Q(kind__in=Kind.values)),
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


class SampledAnswer(models.Model):
    """One answer of a sample, with its place in the order in which people rate."""

    sample = models.ForeignKey(AnswerSample, models.CASCADE, related_name="answers")
    answer = models.ForeignKey(Answer, models.CASCADE, related_name="sampled")
    number = models.PositiveIntegerField()

    class Meta:
        ordering = ["sample", "number"]
        constraints = [
            models.UniqueConstraint(name="sampled_answer_once", fields=["sample", "answer"]),
            models.UniqueConstraint(name="sampled_number_once", fields=["sample", "number"]),
        ]

    def __str__(self) -> str:
        return f"{self.number} of sample {self.sample_id}"


class JudgeCertificate(models.Model):
    """What a judge is worth against people: computed once a sample is complete.

    It belongs to one hash of model, settings, prompt and parser: a judge of another hash has none.
    Each is an attempt, with the answers of all samples so far; the newest holds the most answers
    and counts. Without a ``sample`` it is from before samples were drawn, and counts no longer.
    Append-only (triggers).
    """

    project = models.ForeignKey(Project, models.CASCADE, related_name="judge_certificates")
    judge_sha256 = models.CharField(max_length=64)
    kind = models.CharField(max_length=12, choices=Kind)
    model = models.CharField(max_length=200)
    served_model = models.CharField(max_length=200, blank=True, help_text="As the server named it")
    prompt_sha256 = models.CharField(max_length=64)
    parser_version = models.CharField(max_length=20)
    sample = models.ForeignKey(
        AnswerSample,
        models.RESTRICT,
        null=True,
        related_name="certificates",
        help_text="The newest of those that it rests on",
    )
    attempt = models.PositiveIntegerField(
        null=True, help_text="Of this judge, with samples given up before it"
    )
    n = models.PositiveIntegerField(help_text="Answers that people rated and the judge scored")
    bias = models.FloatField(null=True, help_text="Mean of judge minus people, in points")
    bias_low = models.FloatField(null=True)
    bias_high = models.FloatField(null=True)
    kappa = models.FloatField(null=True, help_text="Weighted by the square of the distance")
    ci_low = models.FloatField(null=True)
    ci_high = models.FloatField(null=True)
    spearman = models.FloatField(null=True)
    mae = models.FloatField(null=True)
    comparison = models.JSONField(
        default=dict,
        help_text="Samples, raters and their own agreement, intervals, and what was required",
    )
    passed = models.BooleanField()
    reasons = models.JSONField(default=list, help_text="Why it was refused")
    issued_at = models.DateTimeField(auto_now_add=True)
    issued_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.PROTECT, null=True, related_name="+"
    )

    class Meta:
        ordering = ["-pk"]
        constraints = [
            models.CheckConstraint(
                name="certificate_kind_known", condition=Q(kind__in=Kind.values)
            ),
            models.UniqueConstraint(
                name="certificate_once_per_sample",
                fields=["sample", "judge_sha256", "served_model"],
                condition=Q(sample__isnull=False),
            ),
        ]
        indexes = [
            models.Index(name="certificate_of_judge", fields=["project", "judge_sha256", "kind"]),
        ]

    def __str__(self) -> str:
        return f"{self.kind} by {self.model}: {'passed' if self.passed else 'refused'}"
