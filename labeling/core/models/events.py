from __future__ import annotations

from typing import Any

from django.conf import settings
from django.db import models
from django.utils.translation import gettext_lazy as _

from labeling.core.models.projects import Membership, Project


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
