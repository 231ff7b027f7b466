from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from labeling.core.models.fields import FactField
from labeling.models import Conversation, Job


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


class LayerBuildQuerySet(models.QuerySet["LayerBuild"]):
    def unfinished(self) -> LayerBuildQuerySet:
        return self.filter(finished_at=None, failure=None)


class LayerBuild(models.Model):
    """Somebody asked for the layers of a conversation; one row for each configuration.

    What is built is in ``BuiltLayer``. This is how far the rest is.
    """

    conversation = models.ForeignKey(Conversation, models.CASCADE, related_name="layer_builds")
    config_sha256 = models.CharField(max_length=64)
    config = models.JSONField(default=dict)
    requested_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.PROTECT, null=True, related_name="+"
    )
    requested_at = models.DateTimeField(auto_now=True)
    step = models.CharField(max_length=7, choices=BuiltLayer.Kind, blank=True)
    done = models.PositiveIntegerField(default=0, help_text="Of the layer in work")
    total = models.PositiveIntegerField(default=0)
    failure = FactField()
    finished_at = models.DateTimeField(null=True)

    objects = LayerBuildQuerySet.as_manager()

    class Meta:
        ordering = ["-pk"]
        constraints = [
            models.UniqueConstraint(
                name="layer_build_once", fields=["conversation", "config_sha256"]
            ),
            models.CheckConstraint(
                name="layer_build_finished_or_failed",
                condition=Q(finished_at=None) | Q(failure=None),
            ),
        ]

    def __str__(self) -> str:
        return f"layers of {self.conversation}"

    @property
    def state(self) -> str:
        if self.failure:
            return "failed"
        if self.finished_at:
            return "finished"
        at_work = Job.objects.held().filter(kind="layers", key=self.pk)
        return "running" if at_work.exists() else "queued"
