"""How many cases of a run have which value of the primary metric."""

from __future__ import annotations

from typing import Any

from django.db.models import Count, F, FloatField, Value
from django.db.models.functions import Cast, Floor, Least

from evaluation.metrics.registry import Metric
from evaluation.models import Aggregate, Run, Score
from evaluation.services.run.primary_metrics import primary_of
from evaluation.views import present

BINS = 10
TINY = 1e-9  # 0.7 times ten is a little more or less than seven


def scores_plot(run: Run, aggregates: dict[str, Aggregate]) -> dict[str, Any]:
    """Counted by the database."""
    metric = primary_of(run.release.project, run.release.layer).metric
    row = aggregates.get(metric.id)
    plot = present.counts_plot(_counted(run, metric), metric, mean=row.mean if row else None)
    return plot | {"undefined": row.n_undefined if row else 0}


def _counted(run: Run, metric: Metric) -> list[int]:
    span = metric.upper - metric.lower
    place = (F("value") - Value(metric.lower)) * Value(BINS / span) + Value(TINY)
    scores = Score.objects.filter(
        case__run=run, metric=metric.id, metric_version=metric.version, value__isnull=False
    )
    part = Least(Floor(Cast(place, FloatField())), Value(float(BINS - 1)))
    counted = scores.order_by().annotate(part=part).values_list("part").annotate(n=Count("pk"))
    by_part = {int(at): n for at, n in counted}
    return [by_part.get(at, 0) for at in range(BINS)]
