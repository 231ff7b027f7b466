from __future__ import annotations

import uuid

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.urls import reverse

from evaluation.models.answers import Kind
from evaluation.models.ratings import PanelQuerySet
from evaluation.models.runs import Run
from evaluation.models.work import Work, WorkQuerySet
from labeling.models import Project


class AnswerPanel(models.Model):
    """The rating of the answers of one run, by people who are told nothing of it.

    They know it by its ``code``. It is never closed: what was found out about a judge is kept with
    its certificate, whatever people rate later.
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


class Probing(Work):
    """Asking one judge the probes, again each time: what it said before does not count.

    ``judge_sha256`` is of the model and how it is asked, the prompt and the parser;
    ``served_model`` is what the server called itself in its replies.
    """

    project = models.ForeignKey(Project, models.CASCADE, related_name="probings")
    kind = models.CharField(max_length=12, choices=Kind)
    model = models.CharField(max_length=200, help_text="provider/model, as it is asked")
    served_model = models.CharField(max_length=200, blank=True, help_text="As the server named it")
    prompt_name = models.CharField(max_length=40)
    prompt = models.TextField()
    prompt_sha256 = models.CharField(max_length=64)
    parser_version = models.CharField(max_length=20)
    judge_sha256 = models.CharField(max_length=64)
    probes_version = models.CharField(max_length=20)
    results = models.JSONField(default=list, help_text="Each probe and what the judge said of it")
    budget_tokens = models.PositiveBigIntegerField(
        null=True, help_text="Tokens that it may use; empty: no limit"
    )
    requested_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.PROTECT, null=True, related_name="+"
    )
    created_at = models.DateTimeField(auto_now_add=True)

    objects = WorkQuerySet.as_manager()

    class Meta:
        ordering = ["-pk"]
        constraints = [
            models.CheckConstraint(
                name="probing_state_known",
                condition=Q(state__in=["queued", "running", "done", "failed"]),
            ),
            models.CheckConstraint(name="probing_kind_known", condition=Q(kind__in=Kind.values)),
            models.UniqueConstraint(
                name="probing_one_open",
                fields=["project", "kind", "judge_sha256"],
                condition=Q(state__in=["queued", "running"]),
                violation_error_message="The probes are being asked already.",
            ),
        ]
        indexes = [
            models.Index(name="probing_of_judge", fields=["project", "judge_sha256", "kind"]),
        ]

    def __str__(self) -> str:
        return f"probing {self.pk} of {self.kind} by {self.model}"


class JudgeCertificate(models.Model):
    """What a judge was found to be worth against people and probes, when somebody looked.

    It belongs to one hash of model, settings, prompt and parser: a judge of another hash has none.
    Of several the newest counts, so that a later look can take a certificate back. Append-only
    (triggers).
    """

    project = models.ForeignKey(Project, models.CASCADE, related_name="judge_certificates")
    judge_sha256 = models.CharField(max_length=64)
    kind = models.CharField(max_length=12, choices=Kind)
    model = models.CharField(max_length=200)
    served_model = models.CharField(max_length=200, blank=True, help_text="As the server named it")
    prompt_sha256 = models.CharField(max_length=64)
    parser_version = models.CharField(max_length=20)
    probes_version = models.CharField(max_length=20, blank=True)
    n = models.PositiveIntegerField(help_text="Answers that people rated and the judge scored")
    kappa = models.FloatField(null=True, help_text="Weighted by the square of the distance")
    ci_low = models.FloatField(null=True)
    ci_high = models.FloatField(null=True)
    spearman = models.FloatField(null=True)
    mae = models.FloatField(null=True)
    comparison = models.JSONField(
        default=dict, help_text="Raters, conversations, further intervals, and what was required"
    )
    probes = models.JSONField(default=list, help_text="Each probe with what the judge said of it")
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
        ]
        indexes = [
            models.Index(name="certificate_of_judge", fields=["project", "judge_sha256", "kind"]),
        ]

    def __str__(self) -> str:
        return f"{self.kind} by {self.model}: {'passed' if self.passed else 'refused'}"
