"""How people and programs get in: invitations by link, and tokens for the API."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from labeling.core.models.projects import Membership, Project


class Invitation(models.Model):
    """A link that makes anyone who opens it a member. Only the digest of its secret is stored."""

    project = models.ForeignKey(Project, models.CASCADE, related_name="invitations")
    role = models.CharField(max_length=10, choices=Membership.Role)
    invitee = models.CharField(max_length=200, blank=True)
    """Whom its lead sent it to, as the lead wrote it; empty for a link for anybody."""
    digest = models.CharField(max_length=64, unique=True)
    uses_left = models.PositiveSmallIntegerField(default=1)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField()
    revoked_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["-pk"]

    def __str__(self) -> str:
        return f"{self.project}: invitation as {self.role}"


class ApiToken(models.Model):
    """A key for programs that act as its owner. Only its digest is stored."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="api_tokens")
    name = models.CharField(max_length=100)
    digest = models.CharField(max_length=64, unique=True)
    created_at = models.DateTimeField(auto_now_add=True)
    last_used_at = models.DateTimeField(null=True)
    used_from = models.JSONField(
        default=dict, help_text="The day on which each address used it last"
    )
    revoked_at = models.DateTimeField(null=True)
    expires_at = models.DateTimeField(null=True, help_text="Empty: does not expire")
    scopes = models.JSONField(
        null=True, help_text="Empty: everything, as tokens from before there were scopes"
    )
    project_ids = models.JSONField(null=True, help_text="Empty: all projects of its owner")
    """Ids, so that a project which is deleted leaves a token without it, not one without limits."""

    class Meta:
        verbose_name, verbose_name_plural = _("API token"), _("API tokens")
        ordering = ["-pk"]

    def __str__(self) -> str:
        return f"{self.user}: {self.name}"

    @property
    def has_expired(self) -> bool:
        return self.expires_at is not None and self.expires_at <= timezone.now()
