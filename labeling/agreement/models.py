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


class PendingUpdate(models.Model):
    """Something changed that stored results depend on, and no worker has caught up with it yet.

    A row names the conversation whose answers may have to be merged, the round that has to be
    measured, or neither: then everything of the project may have to be merged. A worker deletes it
    when that is done, so nothing is lost with a message or a worker.
    """

    project = models.ForeignKey(Project, models.CASCADE, related_name="pending_updates")
    conversation = models.ForeignKey(Conversation, models.CASCADE, null=True, related_name="+")
    round = models.ForeignKey(Round, models.CASCADE, null=True, related_name="+")
    asked_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["pk"]

    def __str__(self) -> str:
        return f"{self.project}: {self.round or self.conversation or 'everything'}"


class Measurement(models.Model):
    """Agreement on one layer of a round, as measured last.

    Workers write it and pages read it. It can be measured again at any time. ``answers_sha256``
    names the answers and the rules that it was measured from.
    What a calibration round closed with stays in ``Round.agreement``, as it was measured then.
    """

    round = models.ForeignKey(Round, models.CASCADE, related_name="measurements")
    layer = models.CharField(max_length=20)
    answers_sha256 = models.CharField(max_length=64, blank=True)
    figures = models.JSONField(default=dict, help_text="Agreement on the layer")
    records = models.JSONField(null=True, help_text="Labels of each pair matched one to one")
    n_compared = models.PositiveIntegerField(default=0, help_text="Answered by at least two")
    n_splits = models.PositiveIntegerField(default=0, help_text="Units labeled differently")
    measured_at = models.DateTimeField()

    class Meta:
        ordering = ["round", "layer"]
        constraints = [models.UniqueConstraint(name="measurement_once", fields=["round", "layer"])]

    def __str__(self) -> str:
        return f"{self.layer} of {self.round}"


class ConversationAgreement(models.Model):
    """What one conversation adds to the agreement on one layer of a round, by origin of labels.

    Workers write it, and measure a conversation again when ``answers_sha256`` names other answers
    or rules. The figures of a round are sums over its rows, in order of conversation.
    """

    round = models.ForeignKey(Round, models.CASCADE, related_name="agreed_conversations")
    layer = models.CharField(max_length=20)
    selection = models.CharField(
        max_length=200, blank=True, help_text="typed or assisted; empty: all labels"
    )
    conversation = models.ForeignKey(Conversation, models.CASCADE, related_name="+")
    position = models.PositiveIntegerField(help_text="In the order of the round")
    answers_sha256 = models.CharField(max_length=64, blank=True)
    n_splits = models.PositiveIntegerField()
    is_used = models.BooleanField(default=False, help_text="Whether anybody has a label")
    annotators = models.JSONField(default=list, help_text="Who submitted it, in order")
    units = models.JSONField(null=True, help_text="Their names, and the labels by annotator")
    pairs = models.JSONField(default=list, help_text="Labels of each two matched one to one")
    splits = models.JSONField(
        default=list, help_text="Units labeled differently, and who says what"
    )

    class Meta:
        ordering = ["round", "layer", "selection", "position", "conversation"]
        constraints = [
            models.UniqueConstraint(
                name="conversation_agreement_once",
                fields=["round", "layer", "selection", "conversation"],
            )
        ]

    def __str__(self) -> str:
        return f"{self.conversation}: {self.layer} of {self.round}"
