from __future__ import annotations

from django.conf import settings
from django.db import models
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from labeling.conversations.models.conversations import Conversation
from labeling.core.models.projects import Guideline
from labeling.domain.facts import Fact
from labeling.gold.models.gold import GoldItem


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
