from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import Q

from labeling.conversations.models.conversations import Conversation
from labeling.core.models.fields import FactField
from labeling.core.models.projects import Project
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


class SuggestionRequest(models.Model):
    """A lead's wish: suggestions of one pipeline for the conversations of full labeling.

    What is left to do follows from the suggestions that exist, so the work may stop anywhere.
    """

    project = models.ForeignKey(Project, models.CASCADE, related_name="suggestion_requests")
    layer = models.CharField(max_length=20)
    pipeline = models.CharField(max_length=100)
    pipeline_version = models.CharField(max_length=50, blank=True)
    requested_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.PROTECT, null=True, related_name="+"
    )
    requested_at = models.DateTimeField(auto_now_add=True)
    tries = models.JSONField(default=dict, help_text="By conversation, how often it was begun")
    failures = models.JSONField(default=dict, help_text="By conversation, the fact why it has none")
    failure = FactField(help_text="Why nothing could be done at all")
    budget_cost = models.FloatField(
        null=True, help_text="Money that language models may cost; empty: no limit"
    )
    budget_tokens = models.PositiveBigIntegerField(
        null=True, help_text="Tokens that language models may use; empty: no limit"
    )
    usage = models.JSONField(default=dict, help_text="What language models were asked and cost")
    finished_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["-pk"]
        constraints = [
            models.UniqueConstraint(
                name="suggestion_request_one_open",
                fields=["project", "layer", "pipeline"],
                condition=Q(finished_at__isnull=True),
                violation_error_message="These suggestions are being made already.",
            )
        ]

    def __str__(self) -> str:
        return f"{self.pipeline} for {self.project}"


class FirstPass(models.Model):
    """An annotator's word that their own first pass is done; only then do they see suggestions.

    ``version`` is the revision of their answer that holds what they labeled without suggestions.
    """

    assignment = models.OneToOneField(Assignment, models.PROTECT, related_name="first_pass")
    version = models.PositiveIntegerField()
    dismissed = models.JSONField(default=list, help_text="Suggested labels that they do not want")
    declared_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        verbose_name_plural = "first passes"

    def __str__(self) -> str:
        return f"{self.assignment}: first pass"
