from __future__ import annotations

from django.db import models
from django.utils.functional import cached_property

from evaluation.models.runs import Run
from labeling.conversations.rules import transcripts
from labeling.conversations.rules.transcripts import Message
from labeling.models import Conversation


class RunConversation(models.Model):
    """A conversation of a run without gold: one of a project, or a text that only the run has."""

    run = models.ForeignKey(Run, models.CASCADE, related_name="conversations")
    position = models.PositiveIntegerField()
    external_id = models.CharField(max_length=200)
    domain = models.CharField(max_length=100, blank=True)
    n_messages = models.PositiveIntegerField()
    conversation = models.ForeignKey(
        Conversation, models.CASCADE, null=True, related_name="run_conversations"
    )
    text = models.TextField(blank=True, help_text="Empty: that of the project's conversation")

    class Meta:
        ordering = ["run", "position"]
        constraints = [
            models.UniqueConstraint(name="run_conversation_once", fields=["run", "external_id"])
        ]

    def __str__(self) -> str:
        return self.external_id

    @cached_property
    def messages(self) -> list[Message]:
        if self.conversation is not None:
            return self.conversation.messages
        return transcripts.read(self.text)
