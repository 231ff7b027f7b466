from __future__ import annotations

from typing import Any, ClassVar

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from labeling.conversations.models.conversations import Conversation
from labeling.core.models.projects import Guideline, Membership, Project


class RoundQuerySet(models.QuerySet["Round"]):
    def visible_to(self, user: Any) -> RoundQuerySet:
        reading = Project.objects.with_role(user, Membership.Role.LEAD, Membership.Role.RESEARCHER)
        return self.filter(project__in=reading)

    def blind(self) -> RoundQuerySet:
        """Open calibration rounds: ``Round.is_blind`` for the database."""
        return self.filter(kind=Round.Kind.CALIBRATION, state=Round.State.OPEN)


class LabelingRounds(models.Manager.from_queryset(RoundQuerySet)):  # type: ignore[misc]
    """Without the one that holds the tests of newcomers, a round only for their own pages."""

    def get_queryset(self) -> RoundQuerySet:
        rows: RoundQuerySet = super().get_queryset()
        return rows.exclude(kind=Round.Kind.QUALIFYING)


class Round(models.Model):
    """A batch of conversations handed to annotators under one version of the guidelines.

    A calibration round is blind and closes when everything is submitted: its agreement is
    computed, stored and compared with the project's threshold. Full labeling opens only after a
    passed calibration round, or over a lead's written reason.
    """

    class Kind(models.TextChoices):
        CALIBRATION = "calibration", _("Calibration")
        FULL = "full", _("full labeling")
        QUALIFYING = "qualifying", _("qualification")  # number 0, one in a project

    class State(models.TextChoices):
        OPEN = "open", _("Open")
        PASSED = "passed", _("Passed")  # calibration only
        FAILED = "failed", _("Failed")  # calibration only
        CLOSED = "closed", _("Closed")  # full labeling only

    project = models.ForeignKey(Project, models.PROTECT, related_name="rounds")
    number = models.PositiveIntegerField()
    kind = models.CharField(max_length=11, choices=Kind)
    state = models.CharField(max_length=6, choices=State, default=State.OPEN)
    guideline = models.ForeignKey(Guideline, models.PROTECT, related_name="rounds")
    overlap = models.PositiveSmallIntegerField()
    seed = models.PositiveIntegerField(default=0)
    pool = models.BooleanField(
        default=False, help_text="Annotators take the next conversation themselves."
    )
    conversations = models.ManyToManyField(
        Conversation, through="labeling.RoundConversation", related_name="rounds"
    )
    anonymous = models.BooleanField(
        default=False, help_text="Its disagreements are discussed under letters, not names"
    )
    override_reason = models.TextField(blank=True)
    label_f1_threshold = models.FloatField(
        default=0.0, help_text="The project's when the round was opened; 0 in rounds from before"
    )
    open_fields = models.JSONField(
        null=True,
        editable=False,
        help_text="By layer, what submitted labels may lack: the project's when it was opened",
    )
    agreement = models.JSONField(null=True, help_text="Agreement at the moment it closed")
    opened_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.PROTECT, null=True, related_name="+"
    )
    opened_at = models.DateTimeField(auto_now_add=True)
    closed_at = models.DateTimeField(null=True)

    objects = LabelingRounds()
    with_checks: ClassVar[models.Manager[Round]] = RoundQuerySet.as_manager()

    class Meta:
        ordering = ["project", "number"]
        constraints = [
            models.UniqueConstraint(name="round_number_once", fields=["project", "number"]),
            models.UniqueConstraint(
                name="round_one_open_calibration",
                fields=["project"],
                condition=Q(kind="calibration", state="open"),
                violation_error_message="This project has an open calibration round already.",
            ),
            models.CheckConstraint(
                name="round_state_fits_kind",
                condition=Q(kind="calibration", state__in=["open", "passed", "failed"])
                | Q(kind="full", state__in=["open", "closed"])
                | Q(kind="qualifying", state="open", number=0),
            ),
            models.CheckConstraint(
                name="round_closed_has_time",
                condition=Q(state="open", closed_at__isnull=True)
                | (~Q(state="open") & Q(closed_at__isnull=False)),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.project} round {self.number}"

    def get_absolute_url(self) -> str:
        return reverse("agreement", args=[self.project.slug, self.number])

    @property
    def handed_out(self) -> Any:
        """Its assignments with the checks among them."""
        return self.assignments(manager="with_checks")

    @property
    def is_blind(self) -> bool:
        """While a calibration round is open nobody, not even a lead, sees what others labeled."""
        return self.kind == self.Kind.CALIBRATION and self.state == self.State.OPEN


class RoundConversation(models.Model):
    """A conversation's place in a round, shuffled by the round's seed."""

    round = models.ForeignKey(Round, models.CASCADE, related_name="places")
    conversation = models.ForeignKey(Conversation, models.PROTECT, related_name="places")
    position = models.PositiveIntegerField()

    class Meta:
        ordering = ["round", "position"]
        constraints = [
            models.UniqueConstraint(
                name="conversation_once_per_round", fields=["round", "conversation"]
            ),
            models.UniqueConstraint(name="round_position_once", fields=["round", "position"]),
        ]

    def __str__(self) -> str:
        return f"{self.round} #{self.position}"
