from __future__ import annotations

from typing import Any, TypedDict

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from labeling.core.models.projects import Membership, Project
from labeling.gold.models.gold import GoldItem
from labeling.settling.models import Adjudication


class ReopeningSource(TypedDict, total=False):
    """Where the person was who asked: a case of a run; what a list of suspects
    had said of it, in the versions that had one."""

    run: int
    case: int
    suspect: str


class ReopeningQuerySet(models.QuerySet["Reopening"]):
    def visible_to(self, user: Any) -> ReopeningQuerySet:
        reading = Project.objects.with_role(user, Membership.Role.LEAD, Membership.Role.RESEARCHER)
        return self.filter(item__release__project__in=reading)

    def of_project(self, project: Project) -> ReopeningQuerySet:
        return self.filter(item__release__project=project)

    def unsettled(self) -> ReopeningQuerySet:
        return self.filter(state__in=Reopening.UNSETTLED)

    def settled(self) -> ReopeningQuerySet:
        return self.exclude(state__in=Reopening.UNSETTLED)


class Reopening(models.Model):
    """Somebody says that an item of gold looks wrong: it is decided anew.

    ``label_uid`` names the label that is doubted; empty: one is missing, or it is about the layer
    as a whole. ``proposal`` is the label as it should be, where a run returned one. ``decision`` is
    what was decided blind in adjudication. ``history`` is what judges said of it while these
    were disputes with verdicts. Until 0.6.0 a lead answered first: declined, or reopened.
    """

    class State(models.TextChoices):
        ASKED = "asked", _("waits for a lead")
        OPEN = "open", _("reopened")
        DECLINED = "declined", _("declined")
        WITHDRAWN = "withdrawn", _("withdrawn")
        KEPT = "kept", _("gold stays")
        CORRECTED = "corrected", _("gold is corrected")

    UNSETTLED = (State.ASKED, State.OPEN)

    item = models.ForeignKey(GoldItem, models.PROTECT, related_name="reopenings")
    layer = models.CharField(max_length=20)
    label_uid = models.CharField(max_length=100, blank=True)
    proposal = models.JSONField(null=True)
    reason = models.TextField()
    source: ReopeningSource = models.JSONField(default=dict)  # type: ignore[assignment]
    asked_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")
    asked_at = models.DateTimeField(default=timezone.now, editable=False)
    state = models.CharField(max_length=9, choices=State, default=State.ASKED)
    answer = models.TextField(blank=True)
    answered_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.PROTECT, null=True, related_name="+"
    )
    answered_at = models.DateTimeField(null=True)
    decision = models.ForeignKey(Adjudication, models.PROTECT, null=True, related_name="reopenings")
    history = models.JSONField(default=dict)

    objects = ReopeningQuerySet.as_manager()

    class Meta:
        ordering = ["pk"]
        constraints = [
            models.CheckConstraint(name="reopening_has_reason", condition=~Q(reason="")),
            models.CheckConstraint(
                name="reopening_state_known",
                condition=Q(
                    state__in=["asked", "open", "declined", "withdrawn", "kept", "corrected"]
                ),
            ),
        ]

    def __str__(self) -> str:
        return f"reopening {self.pk}"

    def get_absolute_url(self) -> str:
        return reverse("reopening", args=[self.item.release.project.slug, self.pk])

    @property
    def is_settled(self) -> bool:
        return self.state not in self.UNSETTLED

    @property
    def uid(self) -> str:
        """That of the label; of a missing one, that of the proposal."""
        return self.label_uid or str((self.proposal or {}).get("uid", ""))
