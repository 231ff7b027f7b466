from __future__ import annotations

from django.db import models

from labeling.models.conversations import Conversation


class Suggestion(models.Model):
    """What a pipeline proposes for a conversation, shown as such and never in a blind round."""

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
