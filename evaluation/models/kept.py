"""What was computed or paid, kept so that it is not again."""

from __future__ import annotations

from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from labeling.models import Conversation


class BuiltLayer(models.Model):
    """What a memory pipeline built from a conversation: topics, their signals, or threads.

    A conversation's text never changes, so a layer is built once for each configuration.
    """

    class Kind(models.TextChoices):
        TOPICS = "topics", _("L1 topics")
        SIGNALS = "signals", _("L1.5 signals")
        THREADS = "threads", _("L2 threads")

    conversation = models.ForeignKey(Conversation, models.CASCADE, related_name="built_layers")
    kind = models.CharField(max_length=7, choices=Kind)
    config_sha256 = models.CharField(max_length=64)
    config = models.JSONField(default=dict)
    implementation = models.CharField(max_length=200, help_text="local, or provider/model")
    payload = models.JSONField()
    seconds = models.FloatField(help_text="Time it took to build")
    built_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["conversation", "kind"]
        constraints = [
            models.UniqueConstraint(
                name="built_layer_once", fields=["conversation", "kind", "config_sha256"]
            ),
            models.CheckConstraint(
                name="built_layer_kind_known",
                condition=Q(kind__in=["topics", "signals", "threads"]),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.kind} of {self.conversation}"


class CachedReply(models.Model):
    """A language model's reply, kept so that no request is paid twice.

    ``key`` is the SHA-256 of provider, model, all messages, parameters and repetition.
    """

    key = models.CharField(max_length=64, unique=True)
    provider = models.CharField(max_length=50)
    model = models.CharField(max_length=200)
    size = models.PositiveIntegerField(default=0, help_text="Bytes of the reply as it is stored")
    reply = models.JSONField(help_text="Text, model string as returned, usage")
    created_at = models.DateTimeField(auto_now_add=True)
    last_used_at = models.DateTimeField(null=True)
    hits = models.PositiveIntegerField(default=0)

    class Meta:
        ordering = ["-pk"]
        indexes = [models.Index("size", name="reply_size")]  # or its sum would read all replies
        verbose_name_plural = "cached replies"

    def __str__(self) -> str:
        return f"{self.provider}/{self.model} {self.key[:12]}"
