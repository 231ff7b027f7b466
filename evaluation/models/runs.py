from __future__ import annotations

from typing import Any

from django.conf import settings
from django.db import models
from django.db.models import Count, Q
from django.urls import reverse

from labeling.models import GoldItem, GoldRelease, Membership, Project


class RunQuerySet(models.QuerySet["Run"]):
    def visible_to(self, user: Any) -> RunQuerySet:
        reading = Project.objects.with_role(user, Membership.Role.LEAD, Membership.Role.RESEARCHER)
        return self.filter(release__project__in=reading)

    def with_progress(self) -> RunQuerySet:
        """Adds the counts that ``Run.status`` is derived from."""
        states = CaseRun.State
        return self.annotate(
            n_cases=Count("cases"),
            n_done=Count("cases", filter=Q(cases__state=states.DONE)),
            n_failed=Count("cases", filter=Q(cases__state=states.FAILED)),
            n_running=Count("cases", filter=Q(cases__state=states.RUNNING)),
        )


class Run(models.Model):
    """One pipeline, with one configuration, measured on one frozen gold release.

    ``spec`` holds what is needed to repeat it. There is no stored status: it follows from the
    cases and from what a person asked for (paused, cancelled), so it cannot be wrong after a crash.
    """

    class Status(models.TextChoices):
        QUEUED = "queued"
        RUNNING = "running"
        SCORING = "scoring"
        FINISHED = "finished"
        PAUSED = "paused"
        CANCELLED = "cancelled"
        FAILED = "failed"  # could not be executed at all; ``failure`` says why

    release = models.ForeignKey(GoldRelease, models.PROTECT, related_name="runs")
    pipeline = models.CharField(max_length=100)
    pipeline_version = models.CharField(max_length=50)
    config = models.JSONField(default=dict)
    config_sha256 = models.CharField(max_length=64)
    split = models.CharField(max_length=5, blank=True, help_text="Empty: every split")
    reason = models.TextField(blank=True, help_text="Why the test split was looked at")
    repetitions = models.PositiveSmallIntegerField(default=1)
    seed = models.PositiveIntegerField(default=0)
    spec = models.JSONField(default=dict)
    requested_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.PROTECT, null=True, related_name="+"
    )
    created_at = models.DateTimeField(auto_now_add=True)
    paused = models.BooleanField(default=False)
    cancelled = models.BooleanField(default=False)
    failure = models.TextField(blank=True)
    scoring_owner = models.UUIDField(null=True)
    scoring_expires_at = models.DateTimeField(null=True)
    scored_at = models.DateTimeField(null=True)

    objects = RunQuerySet.as_manager()

    class Meta:
        ordering = ["-pk"]
        constraints = [
            models.CheckConstraint(
                name="run_repeats_at_least_once", condition=Q(repetitions__gte=1)
            ),
            models.CheckConstraint(
                name="run_on_test_has_reason",
                condition=~Q(split="test") | ~Q(reason=""),
                violation_error_message="Say why the test split is looked at.",
            ),
        ]

    def __str__(self) -> str:
        return f"run {self.pk}: {self.pipeline}"

    def get_absolute_url(self) -> str:
        return reverse("run", args=[self.pk])

    @property
    def status(self) -> str:
        """Needs ``with_progress()``."""
        if self.failure:
            return self.Status.FAILED
        if self.scored_at:
            return self.Status.FINISHED
        if self.cancelled:
            return self.Status.CANCELLED
        if self.n_done + self.n_failed == self.n_cases:  # type: ignore[attr-defined]
            return self.Status.SCORING
        if self.paused:
            return self.Status.PAUSED
        if self.n_done + self.n_failed + self.n_running:  # type: ignore[attr-defined]
            return self.Status.RUNNING
        return self.Status.QUEUED


class CaseRun(models.Model):
    """One gold item in one run and repetition: who works on it and what came out.

    A worker takes a case by one conditional update (queued, or its lease expired) and keeps it
    while ``owner`` is its token; a case whose worker died is taken over when the lease expires.
    """

    class State(models.TextChoices):
        QUEUED = "queued"
        RUNNING = "running"
        DONE = "done"
        FAILED = "failed"

    class ErrorClass(models.TextChoices):
        RATE = "rate"
        TRANSIENT = "transient"
        PERMANENT = "permanent"
        PARSE = "parse"

    run = models.ForeignKey(Run, models.CASCADE, related_name="cases")
    item = models.ForeignKey(GoldItem, models.PROTECT, related_name="case_runs")
    repetition = models.PositiveSmallIntegerField(default=1)
    state = models.CharField(max_length=7, choices=State, default=State.QUEUED)
    attempts = models.PositiveSmallIntegerField(default=0)
    owner = models.UUIDField(null=True)
    lease_expires_at = models.DateTimeField(null=True)
    output = models.JSONField(null=True)
    usage = models.JSONField(default=dict)
    error_class = models.CharField(max_length=9, choices=ErrorClass, blank=True)
    error = models.TextField(blank=True)
    seconds = models.FloatField(null=True, help_text="Wall-clock time of the last attempt")
    finished_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["run", "item__position", "repetition"]
        constraints = [
            models.UniqueConstraint(
                name="case_once_per_repetition", fields=["run", "item", "repetition"]
            ),
            models.CheckConstraint(
                name="case_state_known",
                condition=Q(state__in=["queued", "running", "done", "failed"]),
            ),
            models.CheckConstraint(
                name="case_result_fits_state",
                condition=Q(state="done", output__isnull=False, error="")
                | (Q(state="failed") & ~Q(error=""))
                | Q(state__in=["queued", "running"]),
            ),
        ]
        indexes = [
            # claiming and progress: the open cases of a run
            models.Index(name="case_open", fields=["run", "state", "lease_expires_at"]),
        ]

    def __str__(self) -> str:
        return f"run {self.run_id}: {self.item_id}"

    def get_absolute_url(self) -> str:
        return reverse("run-case", args=[self.run_id, self.pk])
