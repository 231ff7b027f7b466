from __future__ import annotations

from django.db import models


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
