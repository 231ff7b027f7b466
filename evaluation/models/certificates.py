from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import Q

from evaluation.models.answers import Kind
from evaluation.models.ratings import RatingSample
from labeling.models import Project


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
        RatingSample,
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
