from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from labeling.conversations.models.conversations import Conversation
from labeling.core.models.projects import Guideline
from labeling.domain.facts import Fact
from labeling.gold.models.gold import GoldItem
from labeling.work.models.annotations import Annotation
from labeling.work.models.rounds import Round


class AdjudicationQuerySet(models.QuerySet["Adjudication"]):
    def of_answers(self) -> AdjudicationQuerySet:
        """Without those about gold that was labeled elsewhere: it is copied, never settled."""
        return self.exclude(reopenings__item__how__in=GoldItem.MADE_ELSEWHERE)


class Adjudication(models.Model):
    """The decided labels of one conversation and layer. A later decision is a new version."""

    class Kind(models.TextChoices):
        """Why the annotators differed; or that they did not, and somebody accepted that."""

        AMBIGUOUS = "ambiguous", _("ambiguous text")
        GUIDELINE = "guideline", _("gap in the guidelines")
        ERROR = "error", _("annotator error")
        EDGE_CASE = "edge_case", _("edge case")
        SUBJECTIVE = "subjective", _("Subjective")
        ACCEPTED = "accepted", _("accepted as agreed")  # gold keeps who agreed

    conversation = models.ForeignKey(Conversation, models.PROTECT, related_name="adjudications")
    layer = models.CharField(max_length=20)
    version = models.PositiveIntegerField()
    guideline = models.ForeignKey(Guideline, models.PROTECT, related_name="adjudications")
    payload = models.JSONField()
    reason = models.TextField(blank=True, help_text="What the person wrote, if anything")
    kind = models.CharField(max_length=12, choices=Kind, blank=True)
    guideline_flag = models.BooleanField(
        default=False, help_text="The guidelines should say more about this"
    )
    decided_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")
    decided_at = models.DateTimeField(default=timezone.now, editable=False)

    objects = AdjudicationQuerySet.as_manager()

    class Meta:
        ordering = ["conversation", "layer", "version"]
        constraints = [
            models.UniqueConstraint(
                name="adjudication_version_once", fields=["conversation", "layer", "version"]
            ),
        ]

    def __str__(self) -> str:
        return f"{self.conversation} {self.layer} decision {self.version}"

    @property
    def why(self) -> str | Fact:
        """The words of the person who decided, or what is known without them."""
        return self.reason or Fact(f"decision.{self.kind or 'among_labels'}")

    @property
    def overrides(self) -> bool:
        """Whether it counts in place of what the annotators said; what was accepted does not."""
        return self.kind != self.Kind.ACCEPTED


class Merge(models.Model):
    """How the answers of one conversation and layer fit together, as the matcher found.

    Workers write it, because matching needs the text encoder; pages and gold read it. It can be
    computed again at any time. ``answers_sha256`` names the answers and the rules that it was made
    from: a merge of other answers is out of date and never shown.
    """

    conversation = models.ForeignKey(Conversation, models.CASCADE, related_name="merges")
    layer = models.CharField(max_length=20)
    round = models.ForeignKey(Round, models.CASCADE, related_name="+")
    answers_sha256 = models.CharField(max_length=64)
    state = models.CharField(max_length=9, help_text="unanimous, majority, single or disputed")
    agreement = models.FloatField(help_text="Mean share of the annotators who hold a label")
    n_agreed = models.PositiveIntegerField()
    n_disputed = models.PositiveIntegerField()
    clusters = models.JSONField()
    made_at = models.DateTimeField(auto_now=True)

    class Meta:
        ordering = ["conversation", "layer"]
        constraints = [
            models.UniqueConstraint(name="merge_once", fields=["conversation", "layer"]),
            models.CheckConstraint(
                name="merge_state_known",
                condition=Q(state__in=["unanimous", "majority", "single", "disputed"]),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.conversation} {self.layer}: {self.state}"


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
