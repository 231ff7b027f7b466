from __future__ import annotations

from typing import Any

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils.functional import cached_property
from django.utils.translation import gettext_lazy as _

from labeling.conversations.rules import transcripts
from labeling.conversations.rules.transcripts import Message
from labeling.core.models.projects import Membership, Project, limit_of


class ConversationQuerySet(models.QuerySet["Conversation"]):
    def visible_to(self, user: Any) -> ConversationQuerySet:
        """Leads and researchers see their projects' conversations, annotators what they label."""
        limit = limit_of(user)
        rows = self if limit is None else self.filter(project__in=limit)
        if user.is_superuser:
            return rows
        reading = Project.objects.with_role(user, Membership.Role.LEAD, Membership.Role.RESEARCHER)
        return rows.filter(
            Q(project__in=reading)
            | Q(pk__in=user.assignments(manager="with_checks").values("conversation"))
        )


class Conversation(models.Model):
    """What people label. Its text never changes: labels point to message positions."""

    class Difficulty(models.TextChoices):
        EASY = "easy", _("Easy")
        MEDIUM = "medium", _("Medium")
        HARD = "hard", _("Hard")

    class Split(models.TextChoices):
        TRAIN = "train", _("Train")
        DEV = "dev", _("Dev")
        TEST = "test", _("Test")

    class Stage(models.TextChoices):
        """The last one that it has reached; gold, which releases know, comes after all of these."""

        UNPLANNED = "unplanned"
        WAITING = "waiting"
        BEGUN = "begun"
        LABELED = "labeled"
        DISPUTED = "disputed"
        DECIDED = "decided"

    class Origin(models.TextChoices):
        COLLECTED = "collected", _("Collected")
        SYNTHETIC = "synthetic", _("Synthetic")

    project = models.ForeignKey(Project, models.PROTECT, related_name="conversations")
    external_id = models.CharField(max_length=200)
    domain = models.CharField(max_length=100, blank=True)
    difficulty = models.CharField(max_length=6, choices=Difficulty, blank=True)
    split = models.CharField(max_length=5, choices=Split, blank=True)
    origin = models.CharField(max_length=9, choices=Origin, default=Origin.COLLECTED)
    generator = models.CharField(
        max_length=200, blank=True, help_text="What made a synthetic conversation, and from what"
    )
    speakers = models.JSONField(default=list)
    priority = models.SmallIntegerField(default=0, help_text="Higher is handed out first")
    n_messages = models.PositiveIntegerField()
    content_sha256 = models.CharField(max_length=64)
    imported_at = models.DateTimeField(auto_now_add=True)

    objects = ConversationQuerySet.as_manager()

    class Meta:
        ordering = ["external_id"]
        indexes = [
            # the same conversation in another project, or under another name
            models.Index(name="conversation_by_content", fields=["content_sha256"]),
            models.Index(
                name="conversation_synthetic",
                fields=["project"],
                condition=Q(origin="synthetic"),
            ),
        ]
        constraints = [
            models.UniqueConstraint(
                name="conversation_external_id_once", fields=["project", "external_id"]
            ),
            models.CheckConstraint(
                name="conversation_difficulty_known",
                condition=Q(difficulty__in=["", "easy", "medium", "hard"]),
            ),
            models.CheckConstraint(
                name="conversation_split_known",
                condition=Q(split__in=["", "train", "dev", "test"]),
            ),
            models.CheckConstraint(
                name="conversation_origin_known",
                condition=Q(origin__in=["collected", "synthetic"]),
            ),
        ]

    def __str__(self) -> str:
        return self.external_id

    @property
    def is_synthetic(self) -> bool:
        return self.origin == self.Origin.SYNTHETIC

    @cached_property
    def messages(self) -> list[Message]:
        """To read those of many conversations, prefetch ``transcript``."""
        return transcripts.read(self.transcript.messages)


class Transcript(models.Model):
    """The text of a conversation, in a separate row: lists of conversations do not read it.

    Written once, with its conversation, and never updated (trigger).
    """

    conversation = models.OneToOneField(
        Conversation, models.CASCADE, primary_key=True, related_name="transcript"
    )
    messages = models.TextField(help_text="As labeling.conversations.rules.transcripts writes it")

    def __str__(self) -> str:
        return f"Text of {self.conversation}"


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


class ImportReport(models.Model):
    """What an import of chats found wrong in its files, and where each message came from.

    ``counts`` holds figures per file, ``faults`` one entry for each element that could not be
    used as it is (kind, file, place, text), ``dia_ids`` the published id of every localId.
    """

    project = models.ForeignKey(Project, models.CASCADE, related_name="import_reports")
    format = models.CharField(max_length=20)
    files = models.JSONField(default=list, help_text="Name and SHA-256 of each file")
    counts = models.JSONField(default=list)
    faults = models.JSONField(default=list)
    dia_ids = models.JSONField(default=dict, help_text="By conversation: dia_id of each localId")
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.PROTECT, null=True, related_name="+"
    )
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-pk"]

    def __str__(self) -> str:
        return f"{self.project}: {self.format} import {self.pk}"
