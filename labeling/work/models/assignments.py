from __future__ import annotations

import hashlib
from typing import Any, ClassVar

from django.conf import settings
from django.db import models
from django.db.models import Case, Q, Value, When
from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from labeling.conversations.models.conversations import Conversation
from labeling.core.models.projects import Membership, limit_of
from labeling.work.models.rounds import Round

ANSWERED = Q(annotation__status="submitted") | (
    Q(annotation__status="skipped") & (Q(slot__isnull=False) | ~Q(round__state=Round.State.OPEN))
)
"""What counts toward the overlap. A skip that gave its place away counts only once the round has
ended: until then somebody else's answer is to come."""


class AssignmentQuerySet(models.QuerySet["Assignment"]):
    def owned_by(self, user: Any) -> AssignmentQuerySet:
        """What the user may open: their own work, while they annotate in its project.

        Nobody else, not even a lead, opens it for writing.
        """
        return self.given_to(user).filter(
            round__project__memberships__user=user,
            round__project__memberships__role=Membership.Role.ANNOTATOR,
        )

    def given_to(self, user: Any) -> AssignmentQuerySet:
        """What the user was ever given, also in projects they have left since."""
        limit = limit_of(user)
        rows = self if limit is None else self.filter(round__project__in=limit)
        return rows.filter(annotator=user)

    def answered_by(self, user: Any) -> AssignmentQuerySet:
        """What the user has submitted or skipped: who did opens the discussion of its round once
        that has closed. Being planned into a round opens nothing."""
        return self.filter(annotator=user, annotation__status__in=["submitted", "skipped"])

    def with_answered(self) -> AssignmentQuerySet:
        """Adds ``is_answer``: whether it counts toward the overlap."""
        return self.annotate(is_answer=Case(When(ANSWERED, then=Value(True)), default=Value(False)))


class LabelingAssignments(models.Manager.from_queryset(AssignmentQuerySet)):  # type: ignore[misc]
    """What is labeled for its own sake. Checks look like it to annotators, and count for nothing.

    Joins through other models see checks, too.
    """

    def get_queryset(self) -> AssignmentQuerySet:
        rows: AssignmentQuerySet = super().get_queryset()
        return rows.filter(purpose=Assignment.Purpose.LABELING)


class Checks(models.Manager.from_queryset(AssignmentQuerySet)):  # type: ignore[misc]
    """What is not labeled for its own sake: see :class:`Assignment`."""

    def get_queryset(self) -> AssignmentQuerySet:
        rows: AssignmentQuerySet = super().get_queryset()
        return rows.exclude(purpose=Assignment.Purpose.LABELING)


def draw_of(*, seed: int, conversation: int, annotator: int) -> float:
    """From 0 to 1, evenly: an answer is in the sample for review if its draw is below the rate.

    So the same answers are drawn every time, and a higher rate adds to those of a lower one.
    """
    digest = hashlib.sha256(f"{seed}:{conversation}:{annotator}".encode()).digest()
    return int.from_bytes(digest[:8], "big") / 2**64


class DrawField(models.FloatField):
    """Filled in when an assignment is first stored, in bulk or not."""

    def pre_save(self, model_instance: models.Model, add: bool) -> Any:
        drawn = super().pre_save(model_instance, add)
        if drawn is None and isinstance(model_instance, Assignment):
            drawn = model_instance.draw = draw_of(
                seed=model_instance.round.seed,
                conversation=model_instance.conversation_id,
                annotator=model_instance.annotator_id,
            )
        return drawn


class Assignment(models.Model):
    """One conversation handed to one annotator in one round.

    ``slot`` is the assignment's place among the round's ``overlap`` places for the conversation;
    the database lets each place be taken once, so a conversation never gets more annotators than
    wanted. A lease that ran out, or a skip that requeues, gives the place back (``slot`` NULL).

    A check has an outcome already: a honeypot among the work of a round, a part of the
    qualification test, or of a newcomer's calibration. It takes no place from anybody, and
    ``objects`` are without it. One's own work, a row that is at hand and what a round handed out
    are with it: ``owned_by``, ``given_to``, ``row`` and :attr:`Round.handed_out`.
    """

    class Purpose(models.TextChoices):
        LABELING = "labelling", _("labelling")
        HONEYPOT = "honeypot", _("hidden check")
        QUALIFICATION = "qualification", _("qualification")
        CALIBRATION = "calibration", _("Calibration")  # of a newcomer

    round = models.ForeignKey(Round, models.PROTECT, related_name="assignments")
    conversation = models.ForeignKey(Conversation, models.PROTECT, related_name="assignments")
    annotator = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.PROTECT, related_name="assignments"
    )
    slot = models.PositiveSmallIntegerField(null=True)
    position = models.PositiveIntegerField(default=0, help_text="Order in the annotator's queue")
    taken_at = models.DateTimeField(auto_now_add=True)
    returned_reason = models.TextField(blank=True, help_text="Why a reviewer sent it back")
    lease_expires_at = models.DateTimeField(null=True, help_text="NULL: planned, never expires")
    purpose = models.CharField(max_length=13, choices=Purpose, default=Purpose.LABELING)

    draw = DrawField(
        editable=False,
        help_text="From 0 to 1, by the round's seed: below the rate of the project it is reviewed",
    )

    objects = LabelingAssignments()
    checks = Checks()
    with_checks: ClassVar[models.Manager[Assignment]] = AssignmentQuerySet.as_manager()

    class Meta:
        ordering = ["round", "position"]
        constraints = [
            models.UniqueConstraint(
                name="assignment_once_per_annotator",
                fields=["round", "conversation", "annotator"],
            ),
            models.UniqueConstraint(
                name="assignment_slot_once",
                fields=["round", "conversation", "slot"],
                condition=Q(purpose="labelling"),
            ),
            models.CheckConstraint(
                name="assignment_purpose_known",
                condition=Q(purpose__in=["labelling", "honeypot", "qualification", "calibration"]),
            ),
        ]
        indexes = [
            # the queue: one person's work in order
            models.Index(name="assignment_queue", fields=["annotator", "round", "position"]),
            # who has how much
            models.Index(
                name="assignment_work", fields=["round", "purpose", "annotator", "slot", "draw"]
            ),
            # the few reservations that run: each taker looks for those that ran out
            models.Index(
                name="assignment_lease",
                fields=["round", "lease_expires_at"],
                condition=Q(slot__isnull=False, lease_expires_at__isnull=False),
            ),
            # the few checks among the work: a worker looks for those that are not compared yet
            models.Index(
                name="assignment_check", fields=["purpose"], condition=~Q(purpose="labelling")
            ),
        ]

    def __str__(self) -> str:
        return f"{self.conversation} for {self.annotator}"

    def get_absolute_url(self) -> str:
        return reverse("workspace", args=[self.pk])

    @classmethod
    def owned_by(cls, user: Any) -> AssignmentQuerySet:
        return AssignmentQuerySet(cls).owned_by(user)

    @classmethod
    def given_to(cls, user: Any) -> AssignmentQuerySet:
        return AssignmentQuerySet(cls).given_to(user)

    @property
    def row(self) -> AssignmentQuerySet:
        """Itself, whatever it is for, to lock or change."""
        return AssignmentQuerySet(Assignment).filter(pk=self.pk)
