from __future__ import annotations

from django.db import models

from labeling.conversations.models.conversations import Conversation
from labeling.core.models.projects import Project
from labeling.work.models.rounds import Round


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
