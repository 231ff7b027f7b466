"""Work whose right answer is known: hidden checks in full labeling, and a test for newcomers."""

from __future__ import annotations

from django.conf import settings
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from labeling.core.models.fields import FactField
from labeling.core.models.projects import Project
from labeling.work.models.assignments import Assignment
from labeling.work.models.rounds import Round

SHARE = [MinValueValidator(0), MaxValueValidator(1)]


class CheckPlan(models.Model):
    """How a project checks its annotators against gold. Without one it does not."""

    project = models.OneToOneField(Project, models.CASCADE, related_name="check_plan")
    every = models.PositiveSmallIntegerField(
        default=0, help_text="One in so many conversations is a hidden check; 0: none"
    )
    pause_below = models.FloatField(null=True, validators=SHARE, help_text="NULL: never pause")
    pause_after = models.PositiveSmallIntegerField(
        default=10, help_text="Over how many of the last hidden checks"
    )
    test = models.BooleanField(default=False, help_text="Who has not passed gets no other work")
    test_on = models.PositiveSmallIntegerField(
        default=5, validators=[MinValueValidator(1)], help_text="How many conversations it has"
    )
    pass_at = models.FloatField(default=0.7, validators=SHARE)
    tries = models.PositiveSmallIntegerField(default=2, validators=[MinValueValidator(1)])

    class Meta:
        constraints = [
            models.CheckConstraint(
                name="check_plan_every_not_all", condition=Q(every=0) | Q(every__gte=2)
            ),
            models.CheckConstraint(name="check_plan_tries", condition=Q(tries__gte=1)),
        ]

    def __str__(self) -> str:
        return f"checks of {self.project}"

    @property
    def bar(self) -> float:
        """From where on a figure is colored as good."""
        return self.pass_at if self.pause_below is None else self.pause_below


class GoldCheck(models.Model):
    """One answer to a check, compared with the gold of that day. Never changes.

    ``layers`` has the figures of each layer and what was missed; ``value`` is the mean F1 of the
    layers. Where there is none, ``reason`` says why.
    """

    assignment = models.ForeignKey(Assignment, models.PROTECT, related_name="gold_checks")
    version = models.PositiveIntegerField(help_text="The answer's revision")
    releases = models.JSONField(default=dict, help_text="By layer, the gold that it met")
    layers = models.JSONField(default=dict)
    value = models.FloatField(null=True)
    reason = FactField(help_text="Why there is no value")
    scored_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["assignment", "version"]
        constraints = [
            models.UniqueConstraint(name="gold_check_once", fields=["assignment", "version"])
        ]

    def __str__(self) -> str:
        return f"{self.assignment} v{self.version} against gold"


class Qualification(models.Model):
    """How far one person is in the test of a project."""

    class State(models.TextChoices):
        TRYING = "trying", _("under way")
        BETWEEN = "between", _("not passed yet")  # has tries left
        PASSED = "passed", _("Passed")
        FAILED = "failed", _("not passed")  # has no tries left
        WAIVED = "waived", _("waived")

    project = models.ForeignKey(Project, models.CASCADE, related_name="qualifications")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="+")
    state = models.CharField(max_length=7, choices=State, default=State.TRYING)
    tries = models.PositiveSmallIntegerField(default=1, help_text="How many were begun")
    value = models.FloatField(null=True, help_text="Mean of the last finished try")
    reason = models.TextField(blank=True, help_text="Why it was waived")
    waived_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.PROTECT, null=True, related_name="+"
    )
    started_at = models.DateTimeField(auto_now_add=True)
    decided_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["project", "user__username"]
        constraints = [
            models.UniqueConstraint(name="qualification_once", fields=["project", "user"])
        ]

    def __str__(self) -> str:
        return f"{self.user} in {self.project}: {self.state}"


class Pause(models.Model):
    """Somebody gets no work until a lead has looked at it."""

    project = models.ForeignKey(Project, models.CASCADE, related_name="pauses")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="+")
    value = models.FloatField(help_text="Gold agreement that fell under the bar")
    checks = models.PositiveSmallIntegerField(help_text="Over how many hidden checks")
    paused_at = models.DateTimeField(auto_now_add=True)
    lifted_at = models.DateTimeField(null=True)
    lifted_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.PROTECT, null=True, related_name="+"
    )

    class Meta:
        ordering = ["project", "-paused_at"]
        constraints = [
            models.UniqueConstraint(
                name="pause_once", fields=["project", "user"], condition=Q(lifted_at__isnull=True)
            )
        ]

    def __str__(self) -> str:
        return f"{self.user} paused in {self.project}"


class Admission(models.Model):
    """One person may do full labeling on one layer of a project.

    ``calibrated_at`` is NULL while they have not calibrated on it: their answers of full labeling
    from before it say so in gold.
    """

    class How(models.TextChoices):
        ROUND = "round", _("took part in a passed calibration round")
        CALIBRATED = "calibrated", _("calibrated against a closed round")
        LET_IN = "let_in", _("let in by a lead")
        UNMEASURED = "unmeasured", _("nobody used the layer in the calibration")
        EARLIER = "earlier", _("worked here before newcomers had to calibrate")

    project = models.ForeignKey(Project, models.CASCADE, related_name="admissions")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="admissions")
    layer = models.CharField(max_length=20)
    how = models.CharField(max_length=10, choices=How)
    round = models.ForeignKey(
        Round, models.PROTECT, null=True, related_name="+", help_text="The passed round"
    )
    reason = models.TextField(blank=True, help_text="Why a lead let the person in")
    let_in_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.PROTECT, null=True, related_name="+"
    )
    at = models.DateTimeField(auto_now_add=True)
    calibrated_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["project", "user__username", "layer"]
        constraints = [
            models.UniqueConstraint(
                name="admission_once_per_layer", fields=["project", "user", "layer"]
            ),
            models.CheckConstraint(
                name="admission_let_in_with_reason",
                condition=~Q(how="let_in") | (~Q(reason="") & Q(let_in_by__isnull=False)),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.user} on {self.layer} of {self.project}"
