from __future__ import annotations

from typing import Any

from django.conf import settings
from django.db import models
from django.utils.translation import gettext_lazy as _

from labeling.models.projects import Membership, Project


class EventQuerySet(models.QuerySet["Event"]):
    def visible_to(self, user: Any) -> EventQuerySet:
        reading = Project.objects.with_role(user, Membership.Role.LEAD, Membership.Role.RESEARCHER)
        return self.filter(project__in=reading)


class Event(models.Model):
    """Who did what, written in the same transaction as the change itself. Append-only."""

    project = models.ForeignKey(Project, models.PROTECT, null=True, related_name="events")
    actor = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, null=True, related_name="+")
    verb = models.CharField(max_length=50, help_text="for example gold.frozen")
    object_type = models.CharField(max_length=50)
    object_id = models.CharField(max_length=50)
    data = models.JSONField(default=dict)
    at = models.DateTimeField(auto_now_add=True)

    objects = EventQuerySet.as_manager()

    class Meta:
        verbose_name, verbose_name_plural = _("entry of the audit log"), _("audit log")
        ordering = ["-pk"]
        indexes = [models.Index(name="event_of_project", fields=["project", "-id"])]

    def __str__(self) -> str:
        return f"{self.verb} {self.object_type} {self.object_id}"


class EventLink(models.Model):
    """An event's place in the chain of the audit log; see ``labeling.domain.audit_chain``.

    Written by ``labeling.services.audit_chain`` alone, some seconds after the event: appending to
    a chain is one writer at a time, and nobody who labels waits for that. Append-only.
    """

    position = models.PositiveBigIntegerField(primary_key=True)
    event = models.OneToOneField(Event, models.PROTECT, related_name="link")
    previous = models.CharField(max_length=64, help_text="sha256 of the link before")
    sha256 = models.CharField(max_length=64)

    class Meta:
        ordering = ["position"]

    def __str__(self) -> str:
        return f"link {self.position}"


class LogCheck(models.Model):
    """That the whole chain was read and compared with the events, and what was wrong. Append-only.

    Its head is in the chain ever after: a log that was cut off since is known by it.
    """

    at = models.DateTimeField(auto_now_add=True)
    position = models.PositiveBigIntegerField(help_text="The last link that was read")
    event = models.PositiveBigIntegerField(help_text="The event of that link")
    sha256 = models.CharField(max_length=64)
    n_faults = models.PositiveIntegerField(default=0)

    class Meta:
        ordering = ["-pk"]

    def __str__(self) -> str:
        return f"check up to event {self.event}"
