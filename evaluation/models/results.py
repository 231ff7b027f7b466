from __future__ import annotations

from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from evaluation.metrics.chance import over_chance
from evaluation.metrics.registry import METRICS
from evaluation.models.runs import CaseRun, Run
from labeling.core.models.fields import FactField


class Score(models.Model):
    """One metric of one case. ``value`` NULL means undefined, and ``reason`` says why."""

    case = models.ForeignKey(CaseRun, models.CASCADE, related_name="scores")
    metric = models.CharField(max_length=60)
    metric_version = models.PositiveSmallIntegerField()
    value = models.FloatField(null=True)
    chance = models.FloatField(null=True, help_text="Expected of a random answer of the same size")
    numerator = models.FloatField(null=True, help_text="What the case adds to the run's sum")
    weight = models.FloatField(
        null=True, help_text="What the sum is divided by; 1 unless the metric is a micro average"
    )
    by_person = models.JSONField(
        default=dict, help_text="Numerator and weight against gold made without each person"
    )
    reason = FactField()
    detail = models.JSONField(default=dict, help_text="What the drill-down shows; lists defer it")

    class Meta:
        verbose_name, verbose_name_plural = _("score of a case"), _("scores of cases")
        ordering = ["case", "pk"]
        constraints = [
            models.UniqueConstraint(name="score_once", fields=["case", "metric", "metric_version"]),
            models.CheckConstraint(
                name="score_undefined_has_reason",
                condition=Q(value__isnull=False) | Q(reason__isnull=False),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.metric} = {self.value}"


class Aggregate(models.Model):
    """One metric over a run, with how many cases it is based on and how many it is not."""

    run = models.ForeignKey(Run, models.CASCADE, related_name="aggregates")
    metric = models.CharField(max_length=60)
    metric_version = models.PositiveSmallIntegerField()
    mean = models.FloatField(null=True)
    median = models.FloatField(null=True)
    std = models.FloatField(null=True)
    min = models.FloatField(null=True)
    max = models.FloatField(null=True)
    ci_low = models.FloatField(null=True)
    ci_high = models.FloatField(null=True)
    n = models.PositiveIntegerField()
    n_undefined = models.PositiveIntegerField()
    n_failed = models.PositiveIntegerField()
    chance = models.FloatField(
        null=True, help_text="Mean chance level of the cases; NULL where the metric has none"
    )
    conversations = models.PositiveIntegerField(
        null=True, help_text="With a value; unknown for what was scored before it was counted"
    )
    reason = FactField(help_text="Why there is no value")
    detail = models.JSONField(default=dict, help_text="Curves, bins, micro counts")
    yardsticks = models.JSONField(
        default=dict, help_text="Floors, people, skill, and the figure without empty gold"
    )

    class Meta:
        verbose_name, verbose_name_plural = _("figure"), _("figures")
        ordering = ["-run_id", "pk"]  # as runs are, without reading them
        constraints = [
            models.UniqueConstraint(
                name="aggregate_once", fields=["run", "metric", "metric_version"]
            ),
            models.CheckConstraint(
                name="aggregate_undefined_has_reason",
                condition=Q(mean__isnull=False) | Q(reason__isnull=False),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.metric} of run {self.run_id}"

    @property
    def over_chance(self) -> float | None:
        """(mean − chance)/(1 − chance); ``None`` without a chance level, or where that is 1.

        And where lower is better: an error is read next to what chance makes of none.
        """
        metric = METRICS.get(self.metric)
        is_error = metric is not None and metric.direction == "lower"
        return None if is_error else over_chance(self.mean, self.chance)
