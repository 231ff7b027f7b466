from __future__ import annotations

from typing import Any, TypedDict

from django.conf import settings
from django.db import models
from django.db.models import Exists, OuterRef, Q
from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from labeling.models.conversations import Conversation
from labeling.models.gold import GoldItem
from labeling.models.projects import Membership, Project


class DisputeSource(TypedDict, total=False):
    """Where the person was who opened it: a case of a run, and the kind of suspect it was."""

    run: int
    case: int
    suspect: str


class DisputeQuerySet(models.QuerySet["Dispute"]):
    def visible_to(self, user: Any) -> DisputeQuerySet:
        reading = Project.objects.with_role(user, Membership.Role.LEAD, Membership.Role.RESEARCHER)
        return self.filter(item__release__project__in=reading)

    def of_project(self, project: Project) -> DisputeQuerySet:
        return self.filter(item__release__project=project)

    def unsettled(self) -> DisputeQuerySet:
        """Neither decided nor withdrawn."""
        return self.filter(~Exists(DisputeOutcome.objects.filter(dispute=OuterRef("pk"))))


class Dispute(models.Model):
    """Somebody says that a label of gold is wrong, or that one is missing. Insert only.

    ``label_uid`` names the label of the item; empty: it is missing. ``proposal`` is the label as it
    should be; NULL: there should be none. What becomes of it is in its verdicts and its outcome.
    """

    class Origin(models.TextChoices):
        CASE = "case", _("case of a run")
        SUSPECT = "suspect", _("suspect")
        READER = "reader", _("reader of the gold")

    item = models.ForeignKey(GoldItem, models.PROTECT, related_name="disputes")
    conversation = models.ForeignKey(Conversation, models.PROTECT, related_name="disputes")
    layer = models.CharField(max_length=20)
    label_uid = models.CharField(max_length=100, blank=True)
    proposal = models.JSONField(null=True)
    reason = models.TextField()
    origin = models.CharField(max_length=7, choices=Origin)
    source: DisputeSource = models.JSONField(default=dict)  # type: ignore[assignment]
    opened_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")
    opened_at = models.DateTimeField(auto_now_add=True)

    objects = DisputeQuerySet.as_manager()

    class Meta:
        ordering = ["pk"]
        constraints = [
            models.CheckConstraint(
                name="dispute_is_about_a_label",
                condition=~Q(label_uid="") | Q(proposal__isnull=False),
            ),
            models.CheckConstraint(name="dispute_has_reason", condition=~Q(reason="")),
        ]

    def __str__(self) -> str:
        return f"dispute {self.pk}"

    def get_absolute_url(self) -> str:
        return reverse("dispute", args=[self.item.release.project.slug, self.pk])

    @property
    def uid(self) -> str:
        """That of the label; of a missing one, that of the proposal."""
        return self.label_uid or str((self.proposal or {}).get("uid", ""))


class DisputeReading(models.Model):
    """A judge has opened a dispute: which of the two letters hides the label of gold. Insert only.

    Drawn at random for each judge and stored before anything is shown.
    """

    dispute = models.ForeignKey(Dispute, models.PROTECT, related_name="readings")
    judge = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")
    gold_is_a = models.BooleanField()
    opened_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["pk"]
        constraints = [
            models.UniqueConstraint(name="dispute_read_once", fields=["dispute", "judge"])
        ]

    def __str__(self) -> str:
        return f"{self.dispute} read by {self.judge}"


class DisputeVerdict(models.Model):
    """What one judge says of the two sides. Insert only.

    ``choice`` is what the judge saw; ``label`` is the judge's own label after “neither”, and NULL
    there means that no label should be here.
    """

    class Choice(models.TextChoices):
        A = "a", _("A is right")
        B = "b", _("B is right")
        BOTH = "both", _("both are defensible")
        NEITHER = "neither", _("neither")

    reading = models.OneToOneField(DisputeReading, models.PROTECT, related_name="verdict")
    choice = models.CharField(max_length=7, choices=Choice)
    label = models.JSONField(null=True)
    reason = models.TextField()
    judged_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["pk"]
        constraints = [
            models.CheckConstraint(
                name="dispute_verdict_choice_known",
                condition=Q(choice__in=["a", "b", "both", "neither"]),
            ),
            models.CheckConstraint(
                name="dispute_verdict_label_only_of_neither",
                condition=Q(label__isnull=True) | Q(choice="neither"),
            ),
            models.CheckConstraint(name="dispute_verdict_has_reason", condition=~Q(reason="")),
        ]

    def __str__(self) -> str:
        return f"{self.reading}: {self.choice}"


class DisputeOutcome(models.Model):
    """How a dispute ended. Insert only; a later dispute may say otherwise.

    ``label`` is the corrected label; NULL of a correction: the label goes. ``decided_by`` is the
    lead who broke a tie, or the person who withdrew it; empty: the judges' majority.
    """

    class Kind(models.TextChoices):
        KEPT = "kept", _("gold stays")
        CORRECTED = "corrected", _("gold is corrected")
        WITHDRAWN = "withdrawn", _("withdrawn")

    dispute = models.OneToOneField(Dispute, models.PROTECT, related_name="outcome")
    kind = models.CharField(max_length=9, choices=Kind)
    label = models.JSONField(null=True)
    reason = models.TextField(blank=True)
    decided_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.PROTECT, null=True, related_name="+"
    )
    at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["pk"]
        constraints = [
            models.CheckConstraint(
                name="dispute_outcome_known",
                condition=Q(kind__in=["kept", "corrected", "withdrawn"]),
            ),
            models.CheckConstraint(
                name="dispute_outcome_label_only_of_corrections",
                condition=Q(label__isnull=True) | Q(kind="corrected"),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.dispute}: {self.kind}"
