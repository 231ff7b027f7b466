"""Calibration as a whole: where it stands, and how the rounds went."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from django.db.models import Prefetch
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from labeling.agreement import agreement
from labeling.agreement.rules.calibration import ENOUGH, passes_within, standings
from labeling.agreement.rules.intervals import TRUE_FIGURES
from labeling.agreement.views.gate import gates, lowest_pair
from labeling.agreement.views.layer_results import layer_results
from labeling.core import access
from labeling.models import EmptyLayer, Measurement, Project, Round
from labeling.work.round_counts import count_work, seen_before


class Reading(NamedTuple):
    """The gate's figure after one calibration round, with its 95 % interval."""

    number: int
    value: float | None
    low: float | None
    high: float | None
    threshold: float
    passed: bool


@require_GET
def calibration(request: HttpRequest, slug: str) -> HttpResponse:
    project = access.readable(request.user, slug)
    rounds = _rounds(project)
    closed = [round_ for round_ in rounds if round_.agreement]
    readings = [_reading(round_) for round_ in closed]
    latest = rounds[-1] if rounds else None
    failed = latest if latest and latest.state == Round.State.FAILED else None
    context = {
        "project": project,
        "may_write": access.leads(request.user, project),
        "gate": gates([project])[project.pk],
        "enough": ENOUGH,
        "passes": passes_within([round_.agreement for round_ in closed], TRUE_FIGURES[0]),
        "true": TRUE_FIGURES[0],
        "rows": list(zip(closed, readings, strict=True)),
        "last_closed": closed[-1] if closed else None,
        "layers": layer_results(closed[-1]) if closed else [],
        "standings": [
            (round_, standings(agreement.of_messages(round_.agreement)["pairs"]))
            for round_ in reversed(closed)
        ],
        "failed": failed,
        "discussed": seen_before(closed[-1]) if closed else 0,
    }
    return render(request, "labeling/calibration.html", context)


def _rounds(project: Project) -> list[Any]:
    """The calibration rounds, oldest first."""
    rounds = project.rounds.filter(kind=Round.Kind.CALIBRATION).select_related(
        "guideline", "project"
    )
    everything = Measurement.objects.filter(selection="").only("round", "layer", "mean_interval")
    stated = Prefetch("empty_layers", EmptyLayer.objects.select_related("stated_by"))
    rounds = rounds.prefetch_related(Prefetch("measurements", everything), stated)
    counted = list(rounds.defer("guideline__body").order_by("number"))
    count_work(counted)
    return counted


def _reading(measured: Round) -> Reading:
    figures: Mapping[str, Any] = measured.agreement or {}
    low, high = _interval(measured, figures)
    return Reading(
        number=measured.number,
        value=figures["value"],
        low=low,
        high=high,
        threshold=figures["threshold"],
        passed=figures["passed"],
    )


def _interval(
    measured: Round, figures: Mapping[str, Any]
) -> tuple[float, float] | tuple[None, None]:
    """Of the gate's figure: the lowest pair has one, and a mean got one when it was measured."""
    if figures["value"] is None:
        return None, None
    if known := figures.get("intervals", {}).get("value"):
        return known[0], known[1]
    if figures["statistic"] == "mean":
        layer = figures.get("layer") or agreement.first_layer(measured.project)
        stored = [row for row in measured.measurements.all() if row.layer == layer]
        return (
            tuple(stored[0].mean_interval) if stored and stored[0].mean_interval else (None, None)
        )
    pair = lowest_pair(figures)
    return (pair["ci_low"], pair["ci_high"]) if pair else (None, None)
