from __future__ import annotations

from django.db import models

from labeling.conversations.models.conversations import Conversation


class ConversationFingerprint(models.Model):
    """What a conversation says, as :mod:`labeling.domain.fingerprints` computes it from its words.

    An import stores it with the conversation.
    """

    conversation = models.OneToOneField(
        Conversation, models.CASCADE, primary_key=True, related_name="fingerprint"
    )
    sketch = models.BinaryField()

    def __str__(self) -> str:
        return f"Fingerprint of {self.conversation}"


class FingerprintKey(models.Model):
    """One of the lowest values of a fingerprint: an index to find conversations that share text."""

    pk = models.CompositePrimaryKey("value", "conversation")
    value = models.BigIntegerField()
    conversation = models.ForeignKey(
        Conversation, models.CASCADE, related_name="fingerprint_keys", db_index=False
    )

    def __str__(self) -> str:
        return f"{self.value} of {self.conversation}"
