from __future__ import annotations

from typing import Any

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from evaluation.models.runs import CaseRun, Run
from evaluation.models.work import Work, WorkQuerySet
from labeling.core.models.fields import FactField


class Kind(models.TextChoices):
    """What a judge says of an answer. ``claims`` are of older versions: nothing asks for them."""

    FAITHFULNESS = "faithfulness", _("Faithfulness")
    RELEVANCE = "relevance", _("Relevance")
    COMPLETENESS = "completeness", _("Completeness")
    CORRECTNESS = "correctness", _("Correctness")
    CLAIMS = "claims", _("Claims")


class AnswerQuerySet(WorkQuerySet):
    def wanted(self) -> AnswerQuerySet:
        """Those still to be written; of a case that failed there is nothing to answer from."""
        rows: Any = self.unfinished().exclude(case__state=Work.State.FAILED)
        return rows


class Answer(Work):
    """The answer that a language model wrote from what one case retrieved; written once."""

    case = models.OneToOneField(CaseRun, models.CASCADE, related_name="answer")
    text = models.TextField(blank=True)
    message_ids = models.JSONField(
        default=list, help_text="localIds of the messages it was written from, as they were given"
    )
    prompt_sha256 = models.CharField(max_length=64, blank=True)
    model = models.CharField(max_length=200, blank=True, help_text="As the server named it")

    objects = AnswerQuerySet.as_manager()

    class Meta:
        ordering = ["case"]
        constraints = [
            models.CheckConstraint(
                name="answer_state_known",
                condition=Q(state__in=["queued", "running", "done", "failed"]),
            ),
            models.CheckConstraint(
                name="answer_result_fits_state",
                condition=(Q(state="done", error__isnull=True) & ~Q(text=""))
                | Q(state="failed", text="", error__isnull=False)
                | Q(state__in=["queued", "running"]),
            ),
        ]
        indexes = [
            models.Index(name="answer_open", fields=["state", "lease_expires_at", "id"]),
        ]

    def __str__(self) -> str:
        return f"answer of case {self.case_id}"


class Judging(models.Model):
    """A pass of one judge over the answers of a run; the newest that is complete counts.

    ``spec`` holds the prompts with their hashes. There is no stored status: it follows from the
    judgements and from whether a person called it off.
    """

    run = models.ForeignKey(Run, models.CASCADE, related_name="judgings")
    model = models.CharField(max_length=200, help_text="provider/model, as it is asked")
    parser_version = models.CharField(max_length=20)
    judge_sha256 = models.CharField(
        max_length=64, help_text="Of the model, all prompts and the parser"
    )
    spec = models.JSONField()
    requested_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.PROTECT, null=True, related_name="+"
    )
    created_at = models.DateTimeField(auto_now_add=True)
    cancelled = models.BooleanField(default=False)

    class Meta:
        verbose_name, verbose_name_plural = _("judging of answers"), _("judgings of answers")
        ordering = ["-pk"]

    def __str__(self) -> str:
        return f"judging {self.pk} of run {self.run_id}"


class JudgementQuerySet(WorkQuerySet):
    def wanted(self) -> JudgementQuerySet:
        """Those still to be made; without an answer there is nothing to judge."""
        rows: Any = self.unfinished().exclude(kind=Kind.CLAIMS).exclude(judging__cancelled=True)
        rows = rows.exclude(answer__state=Work.State.FAILED)
        return rows.exclude(answer__case__state=Work.State.FAILED)


class Judgement(Work):
    """What the judge says of one answer in one respect. ``score`` NULL has its ``reason``."""

    judging = models.ForeignKey(Judging, models.CASCADE, related_name="judgements")
    answer = models.ForeignKey(Answer, models.CASCADE, related_name="judgements")
    kind = models.CharField(max_length=12, choices=Kind)
    score = models.FloatField(null=True)
    reason = FactField(help_text="Why there is no score")
    reasoning = models.TextField(blank=True)
    clamped = models.BooleanField(default=False, help_text="The number was outside 0 to 10")
    detail = models.JSONField(default=dict, help_text="The claims with their verdicts")
    raw = models.TextField(blank=True, help_text="The reply as it came")
    model = models.CharField(max_length=200, blank=True, help_text="As the server named it")

    objects = JudgementQuerySet.as_manager()

    class Meta:
        verbose_name, verbose_name_plural = _("judgment of an answer"), _("judgments of answers")
        ordering = ["judging", "answer", "pk"]
        constraints = [
            models.UniqueConstraint(name="judgement_once", fields=["judging", "answer", "kind"]),
            models.CheckConstraint(
                name="judgement_state_known",
                condition=Q(state__in=["queued", "running", "done", "failed"]),
            ),
            models.CheckConstraint(name="judgement_kind_known", condition=Q(kind__in=Kind.values)),
            models.CheckConstraint(
                name="judgement_score_in_range",
                condition=Q(score__isnull=True) | Q(score__gte=0, score__lte=10),
            ),
            models.CheckConstraint(
                name="judgement_result_fits_state",
                condition=(
                    Q(state="done", error__isnull=True)
                    & (Q(score__isnull=False) | Q(reason__isnull=False))
                )
                | Q(state="failed", score__isnull=True, error__isnull=False)
                | Q(state__in=["queued", "running"]),
            ),
        ]
        indexes = [
            models.Index(
                name="judgement_open", fields=["judging", "state", "lease_expires_at", "id"]
            ),
        ]

    def __str__(self) -> str:
        return f"{self.kind} of answer {self.answer_id}"
