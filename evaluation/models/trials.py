"""A pipeline tried on conversations without gold: what was asked, and what came out."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.db import models
from django.db.models import Count, Exists, OuterRef, Q
from django.urls import reverse
from django.utils.functional import cached_property
from django.utils.translation import gettext_lazy as _

from evaluation.models.work import Work, WorkQuerySet
from labeling.domain import transcripts
from labeling.domain.transcripts import Message
from labeling.models import Conversation, Membership, Project
from labeling.models.fields import EventSchemaField, FactField
from labeling.models.projects import limit_of


class TrialQuerySet(models.QuerySet["Trial"]):
    def visible_to(self, user: Any) -> TrialQuerySet:
        """Its maker, while they read results somewhere; of a project, its leads as well."""
        limit = limit_of(user)
        if limit is not None:
            self = self.filter(project__in=limit)
        if user.is_superuser:
            return self
        role = Membership.Role
        reading = Project.objects.with_role(user, role.LEAD, role.RESEARCHER)
        if not reading.exists():
            return self.none()
        led = Project.objects.with_role(user, role.LEAD)
        own = Q(maker=user) & (Q(project=None) | Q(project__in=reading))
        return self.filter(own | Q(project__in=led))

    def with_progress(self) -> TrialQuerySet:
        """Adds ``n_cases``, ``n_done``, ``n_failed`` and ``n_running``."""
        state = Work.State
        return self.annotate(
            n_cases=Count("cases"),
            n_done=Count("cases", filter=Q(cases__state=state.DONE)),
            n_failed=Count("cases", filter=Q(cases__state=state.FAILED)),
            n_running=Count("cases", filter=Q(cases__state=state.RUNNING)),
        )

    def startable(self) -> TrialQuerySet:
        """Those that have something to do and that nobody works on."""
        cases = TrialCase.objects.filter(trial=OuterRef("pk"))
        return self.filter(Exists(cases.claimable()), ~Exists(cases.leased()), failure=None)


class Trial(models.Model):
    """A pipeline on conversations without gold. It goes when it expires, with its results."""

    class Status(models.TextChoices):
        QUEUED = "queued", _("Queued")
        RUNNING = "running", _("Running")
        STOPPED = "stopped", _("Stopped")
        CANCELLED = "cancelled", _("Cancelled")
        FINISHED = "finished", _("Finished")

    maker = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="trials")
    project = models.ForeignKey(
        Project,
        models.CASCADE,
        null=True,
        related_name="trials",
        help_text="Whose leads see it; empty: only its maker",
    )
    name = models.CharField(max_length=200)
    pipeline = models.CharField(max_length=100)
    pipeline_version = models.CharField(max_length=50, blank=True)
    layer = models.CharField(max_length=20)
    config = models.JSONField(default=dict)
    questions = models.JSONField(default=list, help_text="Pairs of an id and a question")
    event_schema = EventSchemaField(default=dict, blank=True)
    model = models.JSONField(null=True, help_text="The language model that may be asked")
    budget_cost = models.FloatField(null=True)
    budget_tokens = models.PositiveBigIntegerField(null=True)
    cancelled = models.BooleanField(default=False)
    failure = FactField(help_text="Why nothing more could be done")
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField(db_index=True)

    objects = TrialQuerySet.as_manager()

    class Meta:
        ordering = ["-pk"]

    def __str__(self) -> str:
        return f"{self.pipeline} on {self.name}"

    def get_absolute_url(self) -> str:
        return reverse("trial", args=[self.pk])

    @property
    def status(self) -> str:
        """Needs ``with_progress()``."""
        n_cases, ended = self.n_cases, self.n_done + self.n_failed  # type: ignore[attr-defined]
        if self.cancelled:
            return self.Status.CANCELLED
        if ended == n_cases:
            return self.Status.FINISHED
        if self.failure:
            return self.Status.STOPPED
        started = ended or self.n_running  # type: ignore[attr-defined]
        return self.Status.RUNNING if started else self.Status.QUEUED

    @property
    def is_open(self) -> bool:
        return self.status in (self.Status.QUEUED, self.Status.RUNNING)


class TrialConversation(models.Model):
    """A conversation of a trial: one of a project, or a text that only the trial has."""

    trial = models.ForeignKey(Trial, models.CASCADE, related_name="conversations")
    position = models.PositiveIntegerField()
    external_id = models.CharField(max_length=200)
    domain = models.CharField(max_length=100, blank=True)
    n_messages = models.PositiveIntegerField()
    conversation = models.ForeignKey(
        Conversation, models.CASCADE, null=True, related_name="trial_conversations"
    )
    text = models.TextField(blank=True, help_text="Empty: that of the project's conversation")

    class Meta:
        ordering = ["trial", "position"]
        constraints = [
            models.UniqueConstraint(name="trial_conversation_once", fields=["trial", "external_id"])
        ]

    def __str__(self) -> str:
        return self.external_id

    @cached_property
    def messages(self) -> list[Message]:
        if self.conversation is not None:
            return self.conversation.messages
        return transcripts.read(self.text)


class TrialCase(Work):
    """What a pipeline is asked of one conversation, and what it returned."""

    trial = models.ForeignKey(Trial, models.CASCADE, related_name="cases")
    conversation = models.ForeignKey(TrialConversation, models.CASCADE, related_name="cases")
    case_id = models.CharField(max_length=300)
    question = models.TextField(blank=True)
    output = models.JSONField(null=True)
    n_labels = models.PositiveIntegerField(default=0)
    seconds = models.FloatField(null=True)

    objects = WorkQuerySet.as_manager()

    class Meta:
        ordering = ["pk"]
        indexes = [models.Index(name="trial_case_open", fields=["trial", "state"])]

    def __str__(self) -> str:
        return f"{self.case_id} in trial {self.trial_id}"

    def get_absolute_url(self) -> str:
        return reverse("trial-case", args=[self.trial_id, self.pk])
