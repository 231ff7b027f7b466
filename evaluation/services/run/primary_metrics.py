"""Which metric decides comparisons of a layer: declared by a lead, from then on, and on record."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any, TypedDict

from django.utils.formats import date_format
from django.utils.timezone import localtime
from django.utils.translation import gettext, ngettext

from evaluation.layers import GOLD_LAYERS, gold_layer
from evaluation.metrics.comparison import MARGIN, margin_of
from evaluation.metrics.registry import METRICS, Metric
from evaluation.models import PrimaryMetric, Run
from labeling.core import events
from labeling.domain.errors import RuleError
from labeling.models import Project
from labeling.translation import translated


class PrimaryRefused(RuleError, code="primary_refused"):
    """The layer is not measured, or the metric is not one of its main ones."""


class PrimaryJson(TypedDict):
    """How the API, files and commands say it."""

    metric: str
    margin: Annotated[float | None, "In the unit of the metric"]
    margin_share: Annotated[float, "As a share of the metric's range"]
    declared_at: Annotated[str | None, "null: the product's choice"]
    declared_by: str | None


def scored_before(moment: datetime, runs: Iterable[Run]) -> list[int]:
    """The runs whose figures could be seen before something was chosen."""
    seen = [(run.pk, run.first_scored_at) for run in runs]
    return [pk for pk, at in seen if at is not None and at < moment]


def moment(at: datetime) -> str:
    return date_format(localtime(at), "j F Y H:i")


@dataclass(frozen=True, slots=True)
class Primary:
    """The metric that decides, with the smallest difference of interest.

    ``margin`` is a share of the metric's range. Without ``since`` nobody declared anything, and
    the product's own choice holds.
    """

    metric: Metric
    margin: float = MARGIN
    since: datetime | None = None
    by: str = ""

    @property
    def reach(self) -> float | None:
        """The smallest difference of interest in the metric's own unit; none without a range."""
        return margin_of(self.metric, self.margin)

    def declared_after(self, runs: Sequence[Run]) -> list[int]:
        """The runs whose figures could be seen before it was declared."""
        return [] if self.since is None else scored_before(self.since, runs)

    def as_json(self) -> PrimaryJson:
        return {
            "metric": self.metric.id,
            "margin": self.reach,
            "margin_share": self.margin,
            "declared_at": self.since.isoformat() if self.since else None,
            "declared_by": self.by or None,
        }


def primary_of(project: Project, layer: str) -> Primary:
    """What holds now for comparisons on gold of this layer: the newest that was declared, or the
    layer's own where none was, or it is no main metric any more."""
    rows = PrimaryMetric.objects.filter(project=project, layer=layer).select_related("by")
    row = rows.first()
    if row is None or row.metric not in gold_layer(layer).headline:
        return Primary(METRICS[gold_layer(layer).primary])
    return _read(row)


def choices(layer: str) -> list[Metric]:
    """The main metrics of the layer, of which one may decide."""
    metrics = [METRICS[name] for name in gold_layer(layer).headline]
    return [metric for metric in metrics if metric.per_case]


def declare(project: Project, layer: str, metric: str, margin: float, *, by: Any) -> Primary:
    """From now on; what holds already is not declared twice, so that its date stays."""
    if layer not in GOLD_LAYERS:
        raise PrimaryRefused("launch.layer_not_measured", layer=layer, details={"layer": layer})
    known = [choice.id for choice in choices(layer)]
    if metric not in known:
        details = {"metric": metric, "known": known}
        raise PrimaryRefused("primary.not_main", metric=metric, known=known, details=details)
    if not (math.isfinite(margin) and 0 < margin < 1):
        raise PrimaryRefused("primary.margin")
    now = primary_of(project, layer)
    if now.since is not None and (now.metric.id, now.margin) == (metric, margin):
        return now
    said: dict[str, Any] = {"layer": layer, "metric": metric, "margin": margin}
    row = PrimaryMetric.objects.create(project=project, by=by, **said)
    said["before"] = now.metric.id
    events.record("primary.declared", project, project=project, actor=by, **said)
    return _read(row)


def _read(row: PrimaryMetric) -> Primary:
    return Primary(METRICS[row.metric], row.margin, row.at, row.by.get_username() if row.by else "")


def sentences(primary: Primary, seen_before: Sequence[int]) -> list[str]:
    """Who chose it and when, and a notice where its figures had been seen by then."""
    metric = translated(primary.metric.title)
    if primary.since is None:
        return [
            gettext("{metric} decides: the product's choice, the project declared none.").format(
                metric=metric
            )
        ]
    at = moment(primary.since)
    if primary.by:
        said = gettext("{metric} decides, declared by {by} on {at}.")
    else:
        said = gettext("{metric} decides, declared on {at}.")
    parts = [said.format(metric=metric, by=primary.by, at=at)]
    if seen_before:
        numbers = ", ".join(map(str, seen_before))
        parts.append(
            ngettext(
                "It was declared after run {numbers} was scored, when its figures could be seen.",
                "It was declared after runs {numbers} were scored, when their figures could be "
                "seen.",
                len(seen_before),
            ).format(numbers=numbers)
        )
    return parts
