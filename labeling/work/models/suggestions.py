from __future__ import annotations

from django.db import models

from labeling.conversations.models.conversations import Conversation
from labeling.work.models.assignments import Assignment


class Suggestion(models.Model):
    """What a pipeline proposes for a conversation, shown as such and never in a blind round.

    It never changes (trigger): the labels that were taken over from it name it.
    """

    conversation = models.ForeignKey(Conversation, models.PROTECT, related_name="suggestions")
    layer = models.CharField(max_length=20)
    pipeline = models.CharField(max_length=100)
    pipeline_version = models.CharField(max_length=50)
    payload = models.JSONField()
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["conversation", "-pk"]
        constraints = [
            models.UniqueConstraint(
                name="suggestion_once",
                fields=["conversation", "layer", "pipeline", "pipeline_version"],
            )
        ]

    def __str__(self) -> str:
        return f"{self.conversation} by {self.pipeline}"


class FirstPass(models.Model):
    """An annotator's word that their own first pass is done; only then do they see suggestions.

    ``version`` is the revision of their answer that holds what they labeled without suggestions.
    """

    assignment = models.OneToOneField(Assignment, models.PROTECT, related_name="first_pass")
    version = models.PositiveIntegerField()
    declared_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        verbose_name_plural = "first passes"

    def __str__(self) -> str:
        return f"{self.assignment}: first pass"
