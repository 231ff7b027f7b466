from __future__ import annotations

from collections.abc import Collection
from typing import Any

from django.conf import settings
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.db.models import Q
from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from labeling.core.models.fields import EventSchemaField
from labeling.schema import DEFAULT_LAYER
from labeling.schema.hints import KINDS


def default_layers() -> list[str]:
    return [DEFAULT_LAYER]


def default_hints() -> list[str]:
    return list(KINDS)


def limit_to(user: Any, projects: Collection[int]) -> None:
    """From now on this object of the user opens nothing outside of the projects.

    For a request with a token that is limited to them: every rule asks the user, so none of them
    has to know of tokens.
    """
    user._projects = frozenset(projects)


def limit_of(user: Any) -> frozenset[int] | None:
    """The projects that the user is limited to; None: not limited."""
    limit: frozenset[int] | None = getattr(user, "_projects", None)
    return limit


def is_within_limit(user: Any, project: int | None) -> bool:
    limit = limit_of(user)
    return limit is None or project in limit


class ProjectQuerySet(models.QuerySet["Project"]):
    def visible_to(self, user: Any) -> ProjectQuerySet:
        """Projects in which the user has any role; a superuser sees all."""
        rows = self.within_limit_of(user)
        if user.is_superuser:
            return rows
        return rows.filter(pk__in=Membership.objects.filter(user=user).values("project"))

    def with_role(self, user: Any, *roles: str) -> ProjectQuerySet:
        """Projects in which the user has one of the roles; a superuser has all."""
        rows = self.within_limit_of(user)
        if user.is_superuser:
            return rows
        memberships = Membership.objects.filter(user=user, role__in=roles)
        return rows.filter(pk__in=memberships.values("project"))

    def within_limit_of(self, user: Any) -> ProjectQuerySet:
        limit = limit_of(user)
        return self if limit is None else self.filter(pk__in=limit)


class Project(models.Model):
    """A dataset in the making: its label layers, its people and the bar they have to pass."""

    class Statistic(models.TextChoices):
        MIN = "min", _("lowest pair")
        MEAN = "mean", _("mean of the pairs")

    slug = models.SlugField(unique=True)
    name = models.CharField(max_length=200)
    description = models.TextField(blank=True)
    layers = models.JSONField(default=default_layers)
    kappa_threshold = models.FloatField(
        default=0.75, validators=[MinValueValidator(-1), MaxValueValidator(1)]
    )
    kappa_statistic = models.CharField(
        max_length=4, choices=Statistic, default=Statistic.MIN, verbose_name="κ statistic"
    )
    label_f1_threshold = models.FloatField(
        default=0.5,
        validators=[MinValueValidator(0), MaxValueValidator(1)],
        help_text="Lowest F1 of matched labels that a calibration round passes with; 0: any",
    )
    overlap = models.PositiveSmallIntegerField(default=3, validators=[MinValueValidator(1)])
    match_threshold = models.FloatField(default=0.85)
    actor_synonyms = models.JSONField(default=list, blank=True)
    event_schema = EventSchemaField(
        default=dict, blank=True, help_text="Event types and their roles: {type: [role, …]}"
    )
    review_rate = models.FloatField(default=0.0, help_text="Share of answers that is reviewed")
    suggestions = models.BooleanField(
        default=True,
        help_text="Annotators may see what a pipeline suggests, after their first pass",
    )
    open_fields = models.JSONField(
        default=dict, blank=True, help_text="By layer, the fields that labels may lack"
    )
    hints = models.JSONField(
        default=default_hints, blank=True, help_text="Kinds of label hints that annotators get"
    )
    hints_in_calibration = models.BooleanField(
        default=False, help_text="Label hints are shown in calibration and qualification, too"
    )
    publish_names = models.BooleanField(
        default=False, help_text="Gold names people by their user names instead of pseudonyms"
    )
    created_at = models.DateTimeField(auto_now_add=True)

    objects = ProjectQuerySet.as_manager()

    class Meta:
        ordering = ["name"]
        constraints = [
            models.CheckConstraint(
                name="project_kappa_threshold_in_range",
                condition=Q(kappa_threshold__gte=-1) & Q(kappa_threshold__lte=1),
                violation_error_message="The κ threshold lies between -1 and 1.",
            ),
            models.CheckConstraint(
                name="project_label_f1_threshold_in_range",
                condition=Q(label_f1_threshold__gte=0) & Q(label_f1_threshold__lte=1),
                violation_error_message="The threshold of the label F1 lies between 0 and 1.",
            ),
            models.CheckConstraint(
                name="project_kappa_statistic_known",
                condition=Q(kappa_statistic__in=["min", "mean"]),
            ),
            models.CheckConstraint(
                name="project_overlap_at_least_one",
                condition=Q(overlap__gte=1),
                violation_error_message="Every conversation needs at least one annotator.",
            ),
        ]

    def __str__(self) -> str:
        return self.name

    def get_absolute_url(self) -> str:
        return reverse("project", args=[self.slug])

    def roles_of(self, user: Any) -> set[str]:
        if not is_within_limit(user, self.pk):
            return set()
        if user.is_superuser:
            return set(Membership.Role.values)
        return set(self.memberships.order_by().filter(user=user).values_list("role", flat=True))


class Membership(models.Model):
    """What one person may do in one project. A person may hold several roles."""

    class Role(models.TextChoices):
        ANNOTATOR = (
            "annotator",
            _("Annotator"),
        )  # labels what is assigned, sees nobody else's labels
        LEAD = "lead", _("Lead")  # plans rounds, sees all labels, releases gold
        RESEARCHER = "researcher", _("Researcher")  # reads agreement and gold, launches evaluations

    project = models.ForeignKey(Project, models.CASCADE, related_name="memberships")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="memberships")
    role = models.CharField(max_length=10, choices=Role)

    class Meta:
        ordering = ["role", "user__username"]
        constraints = [
            models.UniqueConstraint(
                name="membership_once_per_role", fields=["project", "user", "role"]
            ),
            models.CheckConstraint(
                name="membership_role_known",
                condition=Q(role__in=["annotator", "lead", "researcher"]),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.user} is {self.role} in {self.project}"


class Guideline(models.Model):
    """One version of a project's labeling guidelines. A change is a new version.

    Every round, annotation and gold item names the version it was made under, so a row never
    changes and is never deleted (a trigger in the database refuses it).
    """

    project = models.ForeignKey(Project, models.PROTECT, related_name="guidelines")
    version = models.PositiveIntegerField()
    body = models.TextField(help_text="Markdown")
    summary = models.CharField(max_length=300, blank=True, help_text="What changed, in one line")
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.PROTECT, null=True, related_name="+"
    )
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-version"]
        constraints = [
            models.UniqueConstraint(
                name="guideline_version_once_per_project", fields=["project", "version"]
            )
        ]

    def __str__(self) -> str:
        return f"{self.project} guidelines v{self.version}"


class Pseudonym(models.Model):
    """What gold of a project calls a person. Insert only: releases name it for ever."""

    project = models.ForeignKey(Project, models.PROTECT, related_name="pseudonyms")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")
    number = models.PositiveIntegerField()

    class Meta:
        ordering = ["project", "number"]
        constraints = [
            models.UniqueConstraint(name="pseudonym_once_per_person", fields=["project", "user"]),
            models.UniqueConstraint(name="pseudonym_number_once", fields=["project", "number"]),
        ]

    def __str__(self) -> str:
        return f"{self.user} is annotator-{self.number} in {self.project}"
