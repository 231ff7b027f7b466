from __future__ import annotations

from typing import Any, ClassVar

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from labeling.core.models.projects import Guideline
from labeling.work.models.assignments import Assignment


class LabelingAnnotations(models.Manager["Annotation"]):
    """Without answers to checks, which are compared with gold and go nowhere else."""

    def get_queryset(self) -> models.QuerySet[Annotation]:
        return super().get_queryset().filter(assignment__purpose=Assignment.Purpose.LABELING)


class Annotation(models.Model):
    """One person's answer to one assignment.

    A draft may change any number of times; ``version`` counts the changes so that a save based on
    an old copy can be refused, and ``last_client`` with ``last_seq`` tell one open page's own
    saves from everybody else's. Once submitted its content never changes: it can only be
    reopened as a draft, and not even that once it is locked (triggers refuse it), because
    agreement and gold are computed from it. ``empty`` is the explicit answer "nothing here" of the
    whole answer. A layer in ``unanswered`` counts for nothing; answers from before layers were
    asked one by one have null there, and count on every layer, as they did.
    """

    class Status(models.TextChoices):
        DRAFT = "draft", _("Draft")
        SUBMITTED = "submitted", _("Submitted")
        SKIPPED = "skipped", _("Skipped")

    assignment = models.OneToOneField(Assignment, models.PROTECT)
    guideline = models.ForeignKey(Guideline, models.PROTECT, related_name="annotations")
    status = models.CharField(max_length=9, choices=Status, default=Status.DRAFT)
    payload = models.JSONField(default=dict, blank=True)
    empty = models.BooleanField(default=False)
    unanswered = models.JSONField(
        null=True,
        editable=False,
        help_text="Layers that it says nothing of, not even “nothing here”; null: said of none",
    )
    skip_reason = models.TextField(blank=True)
    version = models.PositiveIntegerField(default=0)
    last_client = models.UUIDField(null=True, editable=False)
    last_seq = models.PositiveIntegerField(default=0, editable=False)
    active_seconds = models.PositiveIntegerField(default=0)
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)
    submitted_at = models.DateTimeField(null=True)
    locked_at = models.DateTimeField(
        null=True, help_text="Its round has closed or gold holds it: it cannot be reopened"
    )

    objects = LabelingAnnotations()
    with_checks: ClassVar[models.Manager[Annotation]] = models.Manager()

    class Meta:
        constraints = [
            models.CheckConstraint(
                name="annotation_status_known",
                condition=Q(status__in=["draft", "submitted", "skipped"]),
            ),
            models.CheckConstraint(
                name="annotation_submitted_has_time",
                condition=Q(status="submitted", submitted_at__isnull=False)
                | (~Q(status="submitted") & Q(submitted_at__isnull=True)),
                violation_error_message="A submitted annotation needs its submission time.",
            ),
            models.CheckConstraint(
                name="annotation_skipped_has_reason",
                condition=(Q(status="skipped") & ~Q(skip_reason=""))
                | (~Q(status="skipped") & Q(skip_reason="")),
                violation_error_message="A skipped conversation needs a reason.",
            ),
        ]
        indexes = [
            # how much is done, without a look at the labels
            models.Index(
                name="annotation_work",
                fields=["assignment", "status", "active_seconds", "updated_at"],
            ),
            # lists of what was submitted, oldest first, read a page of them
            models.Index(
                name="annotation_submitted",
                fields=["submitted_at", "id", "assignment"],
                condition=Q(status="submitted"),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.assignment}: {self.status}"

    @classmethod
    def of(cls, assignment: Any) -> models.QuerySet[Annotation]:
        """The answer to an assignment, whatever that is for; of an OuterRef, too."""
        return cls.with_checks.filter(assignment=assignment)

    def answers(self, layer: str) -> bool:
        return layer not in (self.unanswered or ())


class AnnotationRevision(models.Model):
    """One accepted save. Append-only: updates and deletes are refused by the database."""

    class Kind(models.TextChoices):
        SAVED = "saved", _("Saved")
        SUBMITTED = "submitted", _("Submitted")
        SKIPPED = "skipped", _("Skipped")
        REOPENED = "reopened", _("Reopened")
        RETURNED = "returned", _("Returned")
        RESTORED = "restored", _("Restored")

    annotation = models.ForeignKey(Annotation, models.PROTECT, related_name="revisions")
    version = models.PositiveIntegerField()
    kind = models.CharField(max_length=9, choices=Kind, default=Kind.SAVED)
    payload = models.JSONField()
    empty = models.BooleanField(default=False)
    unanswered = models.JSONField(
        null=True,
        editable=False,
        help_text="Layers that it says nothing of, not even “nothing here”; null: said of none",
    )
    client = models.UUIDField(null=True)
    seq = models.PositiveIntegerField(default=0)
    author = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")
    saved_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["annotation", "version"]
        constraints = [
            models.UniqueConstraint(name="revision_version_once", fields=["annotation", "version"])
        ]
        indexes = [
            # the few answers that were sent back, among all that was ever saved
            models.Index(
                name="revision_returned", fields=["annotation"], condition=Q(kind="returned")
            ),
        ]

    def __str__(self) -> str:
        return f"{self.annotation_id} v{self.version}"
