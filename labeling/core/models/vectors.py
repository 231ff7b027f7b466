from __future__ import annotations

from django.db import models


class TextVector(models.Model):
    """The vector of one text under one encoder, kept so that no text is encoded twice."""

    encoder = models.CharField(max_length=200)
    text_sha256 = models.CharField(max_length=64)
    vector = models.BinaryField(help_text="float32, little endian")

    class Meta:
        constraints = [
            models.UniqueConstraint(name="text_vector_once", fields=["encoder", "text_sha256"])
        ]

    def __str__(self) -> str:
        return f"{self.encoder} {self.text_sha256[:12]}"
