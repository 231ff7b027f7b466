from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from labeling.conversations.models.conversations import Conversation
from labeling.core.models.projects import Guideline, Project
from labeling.work.models.annotations import Annotation
from labeling.work.models.rounds import Round


class Disagreement(models.Model):
    """One unit that the annotators of a closed round marked differently, and what came of it.

    ``unit`` names the unit within the layer: a message index for extraction. The row exists from
    the first word said about it; without one the disagreement is simply open.
    """

    class Outcome(models.TextChoices):
        GUIDELINE = "guideline", _("the guidelines change")
        ERROR = "error", _("annotator error")
        AMBIGUOUS = "ambiguous", _("ambiguous text")
        EDGE_CASE = "edge_case", _("edge case")

    round = models.ForeignKey(Round, models.PROTECT, related_name="disagreements")
    conversation = models.ForeignKey(Conversation, models.PROTECT, related_name="disagreements")
    layer = models.CharField(max_length=20)
    unit = models.CharField(max_length=100)
    outcome = models.CharField(max_length=9, choices=Outcome, blank=True)
    note = models.TextField(blank=True)
    decided_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.PROTECT, null=True, related_name="+"
    )
    decided_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["round", "conversation", "layer", "unit"]
        constraints = [
            models.UniqueConstraint(
                name="disagreement_once", fields=["round", "conversation", "layer", "unit"]
            ),
            models.CheckConstraint(
                name="disagreement_decided_by_somebody",
                condition=Q(outcome="", decided_at__isnull=True)
                | (~Q(outcome="") & Q(decided_at__isnull=False, decided_by__isnull=False)),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.conversation} {self.layer} {self.unit}"


class GuidelineReason(models.Model):
    """A disagreement that a version of the guidelines answers. As final as the version."""

    guideline = models.ForeignKey(Guideline, models.PROTECT, related_name="reasons")
    disagreement = models.ForeignKey(Disagreement, models.PROTECT, related_name="answers")

    class Meta:
        constraints = [
            models.UniqueConstraint(
                name="guideline_reason_once", fields=["guideline", "disagreement"]
            )
        ]

    def __str__(self) -> str:
        return f"{self.guideline} because of {self.disagreement}"


class Comment(models.Model):
    """A remark pinned to a conversation, a message, a label or a disagreement. Never edited.

    A reply names its ``parent``. What is said during a blind round is seen by its author and by
    leads alone until the round has closed.
    """

    project = models.ForeignKey(Project, models.PROTECT, related_name="comments")
    conversation = models.ForeignKey(Conversation, models.PROTECT, related_name="comments")
    round = models.ForeignKey(Round, models.PROTECT, null=True, related_name="comments")
    annotation = models.ForeignKey(Annotation, models.PROTECT, null=True, related_name="comments")
    disagreement = models.ForeignKey(
        Disagreement, models.PROTECT, null=True, related_name="comments"
    )
    parent = models.ForeignKey("self", models.PROTECT, null=True, related_name="replies")
    message_index = models.PositiveIntegerField(null=True)
    label_uid = models.CharField(max_length=64, blank=True)
    body = models.TextField()
    author = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="comments")
    mentions = models.ManyToManyField(settings.AUTH_USER_MODEL, related_name="mentioned_in")
    created_at = models.DateTimeField(auto_now_add=True)
    resolved_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.PROTECT, null=True, related_name="+"
    )
    resolved_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["pk"]
        constraints = [models.CheckConstraint(name="comment_says_something", condition=~Q(body=""))]

    def __str__(self) -> str:
        return f"{self.author}: {self.body[:40]}"


class GuidelineCheck(models.Model):
    """A label made under an older version of the guidelines, looked at again under a newer one."""

    annotation = models.ForeignKey(Annotation, models.PROTECT, related_name="guideline_checks")
    guideline = models.ForeignKey(Guideline, models.PROTECT, related_name="checks")
    stands = models.BooleanField()
    note = models.TextField(blank=True)
    checked_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")
    checked_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(name="guideline_check_once", fields=["annotation", "guideline"])
        ]

    def __str__(self) -> str:
        return f"{self.annotation} under {self.guideline}"
